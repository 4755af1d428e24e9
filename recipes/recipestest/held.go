package recipestest

import (
	"slices"
	"sync"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// held records the leases of a client. The client's observer updates it.
type held struct {
	mu      sync.Mutex
	leases  []*recipes.Lease // the oldest first
	changed chan struct{}    // closed at the next change
}

func newHeld() *held { return &held{changed: make(chan struct{})} }

func (h *held) observer() recipes.Observer {
	over := func(l *recipes.Lease, _ time.Duration) {
		h.change(func() { h.leases = slices.DeleteFunc(h.leases, func(other *recipes.Lease) bool { return other == l }) })
	}
	stands := func(*recipes.Lease) { h.change(func() {}) }
	return recipes.Observer{
		Acquired: func(l *recipes.Lease, _ time.Duration) {
			h.change(func() { h.leases = append(h.leases, l) })
		},
		Suspended: stands,
		Resumed:   stands,
		Lost:      func(l *recipes.Lease, _ recipes.LossReason, held time.Duration) { over(l, held) },
		Released:  over,
	}
}

func (h *held) change(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
	close(h.changed)
	h.changed = make(chan struct{})
}

// await waits until the condition holds is true, and checks it after each change of the leases.
// It reports false if that takes too long.
func (h *held) await(holds func() bool) bool {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		h.mu.Lock()
		changed := h.changed
		h.mu.Unlock()
		if holds() {
			return true
		}
		select {
		case <-changed:
		case <-late.C:
			return false
		}
	}
}

// at returns the oldest lease of a path that is not over, or nil if there is none. The observer
// may be called later than the end of a lease is known elsewhere.
func (h *held) at(path string) *recipes.Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.leases, func(l *recipes.Lease) bool { return l.Path() == path && l.Err() == nil })
	if i < 0 {
		return nil
	}
	return h.leases[i]
}

// paths returns the paths of the leases that are not over.
func (h *held) paths() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	paths := []string{}
	for _, l := range h.leases {
		if l.Err() == nil {
			paths = append(paths, l.Path())
		}
	}
	return paths
}
