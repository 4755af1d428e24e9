package ensemble

// HeldSockets returns the inodes of the sockets of a process.
var HeldSockets = heldSockets
