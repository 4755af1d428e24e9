package recipes

import (
	"fmt"
	"strings"
)

// What %v and log/slog show of a Lease and a Client: not their internals, which
// other goroutines change meanwhile, and which hold the credentials.

// String returns the lock's path, the lease's token and its state.
func (l *Lease) String() string {
	return fmt.Sprintf("lease of %s, token %v, %v", l.Path(), l.Token(), l.State())
}

// String returns the servers that the client was given.
func (c *Client) String() string { return "client of " + strings.Join(c.servers, ",") }
