package ensemble

// CheckPeers looks again for connections around the links.
func (l *Local) CheckPeers() error { return l.checkPeers() }

// PID is the number of the server's process.
func (l *Local) PID(id int) int { return l.servers[id-1].process.cmd.Process.Pid }

// Stopped tells whether a process is stopped by a signal.
var Stopped = stopped
