package client

import (
	"errors"
	"sync"

	"github.com/zkverify/zkverify/histories"
)

// Counters are the counters that one lock guards: the same counter twice. Both lose an update
// when two clients read before either writes; the fence of one prevents that even when the lock
// does not.
type Counters struct {
	mu     sync.Mutex
	plain  int64
	fenced int64
	newest histories.Token // that the fence has admitted
}

// errStale is the answer of the fence to a token that is older than one that it has admitted.
var errStale = errors.New("stale token: the fence has admitted a newer one")

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
	c.mu.Lock()
	defer c.mu.Unlock()
	if store != histories.StoreFenced {
		do(&c.plain)
		return nil
	}
	if token.Less(c.newest) {
		return errStale
	}
	c.newest = token
	do(&c.fenced)
	return nil
}
