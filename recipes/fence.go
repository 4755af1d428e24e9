package recipes

import (
	"fmt"
	"sync"
)

// Fence guards a resource against holders that do not know yet that they lost
// their lock (Kleppmann, "How to do distributed locking", 2016). Keep one Fence
// with the resource, not with its clients. The zero value is ready.
//
// Data that is kept in the same ensemble as the lock needs none: see
// [Lease.Multi]. A database can do without as well: keep the token in the row,
// and let every write state that it is not older (UPDATE … SET token = :token …
// WHERE token <= :token, see [Token.Value]). The module recipes/examples/sqltable does.
//
// What a Fence knows is gone with its process: after a restart it admits any
// token once. Keep the newest token with the data if that matters.
//
// A Fence is safe for concurrent use. When admitting and writing must be one
// step, hold a lock of the resource's own around both, or use Guard.
type Fence struct {
	mu     sync.Mutex
	newest Token
}

// Admit returns nil when token is the newest seen or equal to it, and
// [ErrStaleToken] when a newer one was admitted before.
func (f *Fence) Admit(token Token) error { return f.Guard(token, func() error { return nil }) }

// Guard calls write while no other token can be admitted. When the token is
// stale it returns [ErrStaleToken] without calling it. A write that fails has
// still admitted its token.
func (f *Fence) Guard(token Token, write func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if token.Compare(f.newest) < 0 {
		return fmt.Errorf("%w: %v is older than %v", ErrStaleToken, token, f.newest)
	}
	f.newest = token
	return write()
}
