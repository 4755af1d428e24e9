package ensemble

import "github.com/zkverify/zkverify/ensemble/child"

// CheckPeers looks again for connections around the links.
func (l *Local) CheckPeers() error { return l.checkPeers() }

// PID is the number of the server's process.
func (l *Local) PID(id int) int { return l.servers[id-1].process.PID() }

// Stopped tells whether a process is stopped by a signal.
var Stopped = child.Stopped

// Ask is what Four does without a limit of time.
var Ask = ask

// UpgradeName is what the version to upgrade to is called.
func UpgradeName(named string) (string, error) {
	u, err := findUpgrade(named, "another")
	return u.name, err
}
