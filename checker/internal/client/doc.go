// Package client judges the behavior of clients apart from the order of their locks: a client
// tells holders of a loss, and of a request to release, in time; it leaves no node, watch or
// goroutine behind; and it does not connect too often.
package client
