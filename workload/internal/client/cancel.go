package client

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// calls holds the calls of a client that can be cancelled.
type calls struct {
	mu   sync.Mutex
	all  map[int]context.CancelFunc
	next int
}

// Cancellable returns a context for a call of the client that Cancel ends. The caller calls done
// when the call has returned.
func (c *Client) Cancellable(ctx context.Context) (_ context.Context, done context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	if c.calls.all == nil {
		c.calls.all = map[int]context.CancelFunc{}
	}
	n := c.calls.next
	c.calls.next++
	c.calls.all[n] = cancel
	return ctx, func() {
		c.calls.mu.Lock()
		delete(c.calls.all, n)
		c.calls.mu.Unlock()
		cancel()
	}
}

// Cancel ends the contexts of the calls under way.
func (c *Client) Cancel() {
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(c.calls.all)) {
		c.calls.all[n]()
	}
}
