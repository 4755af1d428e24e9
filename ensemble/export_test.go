package ensemble

import "github.com/zkverify/zkverify/ensemble/child"

// CheckPeers looks again for connections around the links.
func (l *Local) CheckPeers() error { return l.checkPeers() }

// PID returns the number of the server's process.
func (l *Local) PID(id int) int { return l.servers[id-1].process.PID() }

// Stopped reports whether a signal has stopped a process.
var Stopped = child.Stopped

// Ask is Four without a limit of time.
var Ask = ask

// UpgradeName returns the name of the version to upgrade to.
func UpgradeName(named string) (string, error) {
	u, err := findUpgrade(named, "another")
	return u.name, err
}
