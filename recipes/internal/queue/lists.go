package queue

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// flight is a list request under way.
type flight struct {
	number int64
	fresh  time.Time // until when the list is recent enough; only the fetching goroutine uses it
	done   chan struct{}
	err    error
}

// list waits until the list with this number, or a later one, has been applied. Contenders
// that need a list at the same time share it.
func (q *localQueue) list(ctx context.Context, number int64) error {
	for {
		q.mu.Lock()
		if q.applied >= number {
			q.mu.Unlock()
			return nil
		}
		f := q.flight
		q.mu.Unlock()
		if f == nil {
			if f = q.request(); f == nil {
				return session.ErrEnded
			}
		}
		select {
		case <-f.done:
			if f.err != nil {
				return f.err
			}
		case <-q.s.Ended:
			return session.ErrEnded
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// request starts a list request if none is under way. Its goroutine belongs to the session.
func (q *localQueue) request() *flight {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.flight != nil {
		return q.flight
	}
	q.started++
	f := &flight{number: q.started, done: make(chan struct{})}
	if !q.s.Spawn(func() { q.fetch(f) }) {
		return nil
	}
	q.flight, q.left = f, make(map[string]bool)
	return f
}

func (q *localQueue) fetch(f *flight) {
	asked := false
	children, err := session.Retry(q.s.Quit, q.s, func() ([]string, error) {
		if asked && !q.used() {
			return nil, errUnused
		}
		asked = true
		f.fresh = q.now().Add(q.lookAgain())
		children, _, err := q.s.Conn.Children(q.dir)
		return children, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		err = nil // no child is left
	}
	places := Places(children, q.kinds)
	q.mu.Lock()
	defer q.mu.Unlock()
	if f.err = err; err == nil {
		q.apply(f, places)
	}
	q.flight = nil
	close(f.done)
}

// errUnused ends a list request that was not answered and for which no contender waits any
// more.
var errUnused = errors.New("no contender waits for the list")

// used reports whether contenders or leases of permits use the local queue.
func (q *localQueue) used() bool {
	q.lines.mu.Lock()
	defer q.lines.mu.Unlock()
	return q.users > 0
}

// apply replaces the places of the local queue by those of a list.
func (q *localQueue) apply(f *flight, places []Place) {
	places = slices.DeleteFunc(places, func(p Place) bool { return q.left[p.Node] || q.going[p.Node] })
	listed := make(map[string]int64, len(q.places))
	for _, p := range q.places {
		listed[p.Node] = p.listed
	}
	present := make(map[string]bool, len(places))
	for i, p := range places {
		if places[i].listed = listed[p.Node]; places[i].listed == 0 {
			places[i].listed = f.number
		}
		present[p.Node] = true
	}
	other := func(p Place) bool { return q.own[p.Node] == nil }
	if slices.ContainsFunc(places, other) || slices.ContainsFunc(q.places, other) {
		q.forget()
	}
	for node, c := range q.own {
		switch {
		case present[node]:
		case c.joined < f.number && (c.permits == nil || !c.permits.taking()): // another client deleted it
			delete(q.own, node)
			q.wake(node)
			c.wake()
		default: // created after the list was requested; or its own batch has deleted it, and will say so
			p, _ := ParsePlace(node, q.kinds)
			i, _ := slices.BinarySearchFunc(places, p, order)
			places = slices.Insert(places, i, p)
		}
	}
	q.places, q.applied, q.fresh = places, f.number, f.fresh
}
