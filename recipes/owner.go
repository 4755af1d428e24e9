package recipes

import (
	"context"
	"fmt"
	"sync"
)

// ownerKey is the key of the owner in a context.
type ownerKey struct{}

// owner is who holds a lock. Two acquires with one owner re-enter.
type owner struct {
	id    string
	lease *Lease // the lease whose context this is; nil for WithOwner
}

// WithOwner returns a context with which acquires are made in the name of id:
// while a lock is held by id, acquiring it again by id through the same Client
// re-enters. Owners of different clients are different, whatever their ids.
func WithOwner(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner{id: id})
}

func ownerOf(ctx context.Context) owner {
	o, _ := ctx.Value(ownerKey{}).(owner)
	return o
}

// ownership names a hold: one owner's, on one path. Instances of Mutex on one
// path share it.
type ownership struct{ path, owner string }

// registry knows the holds of a client by owner, so that re-entry finds them.
type registry struct {
	mu      sync.Mutex
	holds   map[ownership]*hold
	pending map[ownership]chan struct{} // an acquire is under way; closed when it ends
}

// enter returns the lease of a re-entry when the owner holds the lock; or
// nothing, and then the caller is the owner's one acquire under way until it
// calls settle. A second acquire by the same owner waits: behind the first in
// the queue it would wait for itself.
func (r *registry) enter(ctx context.Context, key ownership) (*Lease, error) {
	for {
		r.mu.Lock()
		if h := r.holds[key]; h != nil {
			if l := h.reenter(ctx); l != nil {
				r.mu.Unlock()
				return l, nil
			}
		}
		wait, busy := r.pending[key]
		if !busy {
			if r.pending == nil {
				r.pending = make(map[ownership]chan struct{})
			}
			r.pending[key] = make(chan struct{})
			r.mu.Unlock()
			return nil, nil
		}
		r.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// settle ends the acquire that enter began; h is nil if it failed.
func (r *registry) settle(key ownership, h *hold) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if wait, ok := r.pending[key]; ok {
		close(wait)
		delete(r.pending, key)
	}
	if h != nil {
		if r.holds == nil {
			r.holds = make(map[ownership]*hold)
		}
		r.holds[key] = h
	}
}

// drop forgets a hold that is over.
func (r *registry) drop(h *hold) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holds[h.key] == h {
		delete(r.holds, h.key)
	}
}

// checkOwner refuses a context whose own lease on this path is over: going on
// as if it still held would hide the loss.
func checkOwner(o owner, path string) error {
	if o.lease == nil || o.lease.hold.key.path != path {
		return nil
	}
	switch o.lease.State() {
	case Lost:
		return ErrLeaseLost
	case Released:
		return fmt.Errorf("%w: the lease of this context was released", ErrNotHeld)
	}
	return nil
}
