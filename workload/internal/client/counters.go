package client

import (
	"sync"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/recipes"
)

// Counters are the counters that one lock guards: the same counter twice. Both lose an update
// when two clients read before either writes; the fence of one prevents that even when the lock
// does not.
type Counters struct {
	fence recipes.Fence

	mu     sync.Mutex
	plain  int64
	fenced int64
}

// Read returns the counter in store. A fenced read passes the fence too: a newer token that has
// only read must keep an older one from writing.
func (c *Counters) Read(store string, token histories.Token) (value int64, err error) {
	err = c.guard(store, token, func(counter *int64) { value = *counter })
	return value, err
}

// Write sets the counter in store.
func (c *Counters) Write(store string, token histories.Token, value int64) error {
	return c.guard(store, token, func(counter *int64) { *counter = value })
}

func (c *Counters) guard(store string, token histories.Token, do func(*int64)) error {
	access := func(counter *int64) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		do(counter)
		return nil
	}
	if store == histories.StoreFenced {
		return c.fence.Guard(recipes.Token(token), func() error { return access(&c.fenced) })
	}
	return access(&c.plain)
}
