// Package client judges what a client does apart from the order of its locks: it tells
// holders of a loss, and of a request to release, in time; it leaves nothing behind; and it
// does not connect too often.
package client
