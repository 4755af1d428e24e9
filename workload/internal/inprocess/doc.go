// Package inprocess serves the clients of locks that live in this process, which is that of a run
// or a worker: it connects them to the servers, reads their sessions from the connections, keeps a
// node that shows that a session lives, and finds goroutines that a client has left running.
package inprocess
