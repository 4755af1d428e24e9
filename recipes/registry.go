package recipes

import (
	"context"
	"sync"
	"time"

	"github.com/zkverify/zkverify/recipes/internal/queue"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

// ownership is the key of a hold: one owner, one path, one mode. All values of a lock at one path
// share the hold.
type ownership struct{ path, owner, kind string }

// attempt returns the key that all acquires of an owner on one path share: it has no mode.
func (k ownership) attempt() ownership { return ownership{path: k.path, owner: k.owner} }

// registry holds a client's holds by owner, so that re-entry finds them, and reports their
// changes to the observer.
type registry struct {
	observer *Observer // gets the changes of the holds
	notify   *notifier
	sessions *session.Keeper

	mu      sync.Mutex // in the order of internal/session/doc.go
	holds   map[ownership]*hold
	pending map[ownership]chan struct{} // an acquire is under way; closed when it ends
}

// enter returns the lease of a re-entry when the owner holds the lock. Otherwise it returns nil,
// and the caller is the owner's only acquire under way until it calls settle. A second acquire by
// the same owner waits in enter: in the queue, behind the first, the owner would wait for itself.
// enter returns ErrUpgrade to a reader that acquires the write lock, and ErrAlreadyHeld to the
// holder of a lock without re-entry.
func (r *registry) enter(ctx context.Context, key ownership) (*Lease, error) {
	for {
		r.mu.Lock()
		if h := r.holds[key]; h != nil && key.kind == queue.Permit && h.open() {
			r.mu.Unlock()
			return nil, ErrAlreadyHeld
		} else if h != nil {
			if l := h.reenter(ctx); l != nil {
				r.mu.Unlock()
				return l, nil
			}
		}
		if key.kind == queue.Write {
			if h := r.holds[ownership{key.path, key.owner, queue.Read}]; h != nil && h.open() {
				r.mu.Unlock()
				return nil, ErrUpgrade
			}
		}
		wait, busy := r.pending[key.attempt()]
		if !busy {
			if r.pending == nil {
				r.pending = make(map[ownership]chan struct{})
			}
			r.pending[key.attempt()] = make(chan struct{})
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
	if wait, ok := r.pending[key.attempt()]; ok {
		close(wait)
		delete(r.pending, key.attempt())
	}
	if h != nil && h.open() {
		if r.holds == nil {
			r.holds = make(map[ownership]*hold)
		}
		r.holds[key] = h
	}
}

// drop removes a hold that is over.
func (r *registry) drop(h *hold) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holds[h.key] == h {
		delete(r.holds, h.key)
	}
}

// find returns the hold with this key, or nil if there is none or it is over.
func (r *registry) find(key ownership) *hold {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.holds[key]; h != nil && h.open() {
		return h
	}
	return nil
}

// held reports whether any owner holds the lock at path in this mode.
func (r *registry) held(path, kind string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, h := range r.holds {
		if key.path == path && key.kind == kind && h.open() {
			return true
		}
	}
	return false
}

// post calls f after everything that was posted before.
func (r *registry) post(f func()) { r.notify.post(f) }

// acquired tells the observer of a lease that was granted after a wait.
func (r *registry) acquired(l *Lease, waited time.Duration) {
	if f := r.observer.Acquired; f != nil {
		r.post(func() { f(l, waited) })
	}
}

// suspended tells the observer that the link of a lease is down, or up again.
func (r *registry) suspended(l *Lease, suspended bool) {
	f := r.observer.Suspended
	if !suspended {
		f = r.observer.Resumed
	}
	if f != nil {
		r.post(func() { f(l) })
	}
}

// revokeRequested tells the observer that the holder was asked to release.
func (r *registry) revokeRequested(l *Lease) {
	if f := r.observer.RevokeRequested; f != nil {
		r.post(func() { f(l) })
	}
}

// lost tells the observer of a lease that was lost after the time held.
func (r *registry) lost(l *Lease, why LossReason, held time.Duration) {
	if f := r.observer.Lost; f != nil {
		r.post(func() { f(l, why, held) })
	}
}

// released tells the observer of a lease that was released after the time held.
func (r *registry) released(l *Lease, held time.Duration) {
	if f := r.observer.Released; f != nil {
		r.post(func() { f(l, held) })
	}
}
