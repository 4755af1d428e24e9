package client

import (
	"errors"
	"sync"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// Counters are the counters that one lock guards: the same counter twice. Both lose an update
// when two clients read before either writes; the fence of one prevents that even when the lock
// does not.
type Counters struct {
	fence func(histories.Token, func() error) error

	mu            sync.Mutex
	plain, fenced int64
}

// NewCounters returns the counters that a lock of the target guards.
func NewCounters(target lock.Target) *Counters {
	if t, ok := target.(lock.Fenced); ok {
		return &Counters{fence: t.NewFence()}
	}
	return &Counters{fence: new(fence).guard}
}

// fence is the run's own fence, for targets that have none.
type fence struct {
	mu     sync.Mutex
	newest histories.Token // that it has admitted
}

func (f *fence) guard(token histories.Token, write func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if token.Less(f.newest) {
		return ErrStale
	}
	f.newest = token
	return write()
}

// ErrStale is the answer of a fence to a token that is older than one that it has admitted.
var ErrStale = errors.New("stale token: the fence has admitted a newer one")

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
	use := func(counter *int64) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		do(counter)
		return nil
	}
	if store != histories.StoreFenced {
		return use(&c.plain)
	}
	err := c.fence(token, func() error { return use(&c.fenced) })
	if err != nil && !errors.Is(err, lock.ErrNoFence) {
		return ErrStale
	}
	return err
}
