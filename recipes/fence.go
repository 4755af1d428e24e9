package recipes

import (
	"fmt"
	"sync"
)

// Fence guards a resource against holders that do not know yet that they lost their lock
// (Kleppmann, "How to do distributed locking", 2016). Keep one Fence with the resource, not with
// its clients. The zero value is ready to use, and safe for concurrent use. When admission and
// write must be one step, use Guard, or hold a lock of the resource around both.
//
// Data in the same ensemble as the lock needs no Fence: see [Lease.Multi]. A database needs none
// either: keep the token in the row, and let every write require that its token is not older, as
// [Token.Value] shows and the module recipes/examples/sqltable does.
//
// A Fence keeps the newest token in memory: after a restart of its process it admits any token
// once. Keep the newest token with the data if that matters.
type Fence struct {
	mu     sync.Mutex
	newest Token
}

// Admit returns nil when token is the newest seen or equal to it, and
// [ErrStaleToken] when a newer one was admitted before.
func (f *Fence) Admit(token Token) error { return f.Guard(token, func() error { return nil }) }

// Guard calls write, and admits no other token meanwhile. When the token is stale, Guard returns
// [ErrStaleToken] and does not call write. If write fails, its token is admitted nevertheless.
func (f *Fence) Guard(token Token, write func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if token.Compare(f.newest) < 0 {
		return fmt.Errorf("%w: %v is older than %v", ErrStaleToken, token, f.newest)
	}
	f.newest = token
	return write()
}
