package recipestest

import (
	"context"
	"testing"

	"github.com/zkverify/zkverify/recipes"
)

// leasePath is the path of NewLease's lock.
const leasePath = "/recipestest/lock"

// Lease is a lease that a test loses on purpose. Give the *recipes.Lease in it to the code under
// test. Call its own methods from the test's goroutine.
type Lease struct {
	*recipes.Lease

	client *Client
}

// NewLease returns a lease of a mutex, held by a new client, see [NewClient].
func NewLease(tb testing.TB, options ...recipes.Option) *Lease {
	tb.Helper()
	c := NewClient(tb, options...)
	return c.acquire(recipes.NewMutex(c.Client, leasePath))
}

func (c *Client) acquire(lock recipes.Lock) *Lease {
	c.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	lease, err := lock.Acquire(ctx)
	if err != nil {
		c.tb.Fatalf("recipestest: %v", err)
	}
	return &Lease{Lease: lease, client: c}
}

// Client returns the client that the lease belongs to.
func (l *Lease) Client() *Client { return l.client }

// Suspend takes the lease's link down, and returns when the lease is suspended, which means that
// it is still held. The lease and the other leases of its client are lost unless [Lease.Resume]
// is called before the deadline, about a session timeout later.
func (l *Lease) Suspend() {
	l.client.tb.Helper()
	l.mustBeOpen()
	l.client.link.Refuse()
	l.client.leases.await(func() bool { return l.State() != recipes.Held })
	if state := l.State(); state != recipes.Suspended {
		l.client.tb.Fatalf("recipestest: %v, when it should be suspended; with LoseOnSuspend no lease is", l)
	}
}

// Resume takes the link of a suspended lease up, and returns when the lease is held as
// before.
func (l *Lease) Resume() {
	l.client.tb.Helper()
	l.client.link.Heal()
	l.client.leases.await(func() bool { return l.State() != recipes.Suspended })
	if state := l.State(); state != recipes.Held {
		l.client.tb.Fatalf("recipestest: %v, when it should be held", l)
	}
}

// mustBeOpen fails the test if the lease has ended.
func (l *Lease) mustBeOpen() {
	l.client.tb.Helper()
	if err := l.Err(); err != nil {
		l.client.tb.Fatalf("recipestest: the lease of %s has ended already: %v", l.Path(), err)
	}
}
