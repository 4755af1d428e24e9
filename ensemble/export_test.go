package ensemble

import "github.com/zkverify/zkverify/ensemble/child"

// CheckPeers looks again for connections around the links.
func (l *Local) CheckPeers() error { return l.checkPeers() }

// PID is the number of the server's process.
func (l *Local) PID(id int) int { return l.servers[id-1].process.PID() }

// Stopped tells whether a process is stopped by a signal.
var Stopped = child.Stopped

// NewRelay opens a relay in front of target.
func NewRelay(target string) (addr string, close func() error, err error) {
	r, err := newRelay(target)
	if err != nil {
		return "", nil, err
	}
	return r.listener.Addr().String(), r.close, nil
}
