package recipes

import (
	"context"
	"slices"
	"sync"

	"github.com/zkverify/zkverify/recipes/internal/queue"
)

// A cohort is the set of one Client's contenders for a mutex with WithLocalHandoff. Only its
// leader, which has the baton, stands in the lock's queue; the others wait for the baton, first
// come, first served. See Dice, Marathe and Shavit, "Lock cohorting", 2012.
type cohort struct {
	mu        sync.Mutex
	users     int  // acquires and leases; locked by the Client's cohorts
	led       bool // a contender has the baton
	followers []*follower
}

// follower waits for the baton.
type follower struct{ turn chan baton }

// baton is the right to be the cohort's leader, with the leader's place in the lock's queue.
// Without a place the new leader has to join the queue itself.
type baton struct {
	place  *queue.Contender
	passed int // how often the place has been handed on
}

// cohorts holds the cohorts of a Client, by path.
type cohorts struct {
	mu  sync.Mutex
	all map[string]*cohort
}

// enter returns the cohort at path; the caller must call exit.
func (c *cohorts) enter(path string) *cohort {
	c.mu.Lock()
	defer c.mu.Unlock()
	co := c.all[path]
	if co == nil {
		if c.all == nil {
			c.all = make(map[string]*cohort)
		}
		co = new(cohort)
		c.all[path] = co
	}
	co.users++
	return co
}

func (c *cohorts) exit(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	co := c.all[path]
	if co.users--; co.users == 0 {
		delete(c.all, path)
	}
}

// lead waits until the caller has the baton. The caller may have the baton although ctx has
// ended; it then has to pass it on.
func (co *cohort) lead(ctx context.Context, block bool) (b baton, leads bool, err error) {
	co.mu.Lock()
	if !co.led {
		co.led = true
		co.mu.Unlock()
		return baton{}, true, nil
	}
	if !block {
		co.mu.Unlock()
		return baton{}, false, ErrNotAcquired
	}
	m := &follower{turn: make(chan baton, 1)}
	co.followers = append(co.followers, m)
	co.mu.Unlock()
	select {
	case b := <-m.turn:
		return b, true, nil
	case <-ctx.Done():
	}
	co.mu.Lock()
	defer co.mu.Unlock()
	if i := slices.Index(co.followers, m); i >= 0 {
		co.followers = slices.Delete(co.followers, i, i+1)
		return baton{}, false, context.Cause(ctx)
	}
	return <-m.turn, true, context.Cause(ctx)
}

// next gives the baton to the next follower, or reports that there is none.
func (co *cohort) next(b baton) bool {
	co.mu.Lock()
	defer co.mu.Unlock()
	if len(co.followers) == 0 {
		return false
	}
	co.followers[0].turn <- b
	co.followers = co.followers[1:]
	return true
}

// resign gives the leadership up, and hands on the baton without a place.
func (co *cohort) resign() {
	co.mu.Lock()
	defer co.mu.Unlock()
	if len(co.followers) == 0 {
		co.led = false
		return
	}
	co.followers[0].turn <- baton{}
	co.followers = co.followers[1:]
}

// pass hands the place on to the next follower. It reports false when the limit is reached or
// there is no follower.
func (co *cohort) pass(b baton, limit int) bool {
	return b.passed < limit && co.next(baton{b.place, b.passed + 1})
}

// retire gives up the leadership, and leaves its place in the queue in the background.
func (co *cohort) retire(place *queue.Contender) bool {
	co.resign()
	place.LeaveInBackground()
	return true
}
