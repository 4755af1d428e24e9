// Package activity knows what the clients of a run do at each moment, and counts what
// they did when faults hit them.
package activity

import (
	"slices"
	"sync"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// Activity is what one client does and believes to hold, for faults to be aimed by,
// and what faults have hit it.
type Activity struct {
	index  int // of the client
	locks  map[string]histories.Lock
	Faults *Coverage

	mu        sync.Mutex
	waiting   bool
	queuing   bool             // its acquire has not told its place in the queue yet
	inside    bool             // a double barrier
	releasing bool             // a release, or a leave, is under way
	recipe    histories.Recipe // what its cycle is of
	place     Stand            // in a queue: the latest that is known
	held      []*Holding       // what it believes to hold
	strikes   int              // faults that have hit it
	endure    time.Time        // until when the last of them wants it to hold on
}

// New is the activity of a client, given by its index, in a run with these locks.
func New(index int, locks map[string]histories.Lock, faults *Coverage) *Activity {
	return &Activity{index: index, locks: locks, Faults: faults}
}

// becomes changes what the client does, for faults to meet.
func (a *Activity) becomes(change func()) {
	a.mu.Lock()
	change()
	a.mu.Unlock()
	a.Faults.Meet(a)
}

// SetWaiting says that the client waits, or does no more.
func (a *Activity) SetWaiting(yes bool) { a.becomes(func() { a.waiting = yes }) }

// SetAsking says that it acquires, without a place in the queue yet, or does no
// more.
func (a *Activity) SetAsking(yes bool) {
	a.becomes(func() { a.waiting, a.queuing, a.place = yes, yes, Stand{} })
}

// SetQueued says that its acquire has told a place in the queue.
func (a *Activity) SetQueued(at Stand) { a.becomes(func() { a.queuing, a.place = false, at }) }

// SetInside says that the client is inside a double barrier, or is no more.
func (a *Activity) SetInside(yes bool) { a.becomes(func() { a.inside = yes }) }

// SetReleasing says that a release, or a leave, is under way, or is no more.
func (a *Activity) SetReleasing(yes bool) { a.becomes(func() { a.releasing = yes }) }

// SetRecipe says what the next cycle of the client is of.
func (a *Activity) SetRecipe(r histories.Recipe) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.recipe = r
}

// AddHold says that the client holds something from now on.
func (a *Activity) AddHold(h *Holding) {
	a.becomes(func() {
		a.held = append(a.held, h)
		a.Faults.Held.Add(1)
	})
}

// DropHold says that the client does not hold it any more.
func (a *Activity) DropHold(h *Holding) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := len(a.held)
	a.held = slices.DeleteFunc(a.held, func(other *Holding) bool { return other == h })
	a.Faults.Held.Add(int64(len(a.held) - before))
}

// Stop leaves the client without what it was doing.
func (a *Activity) Stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Faults.Held.Add(-int64(len(a.held)))
	a.waiting, a.queuing, a.inside, a.releasing, a.held = false, false, false, false, nil
}

// Holds returns how much the client believes to hold.
func (a *Activity) Holds() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.held)
}

// HoldsLock reports whether the client believes to hold a lock, by itself.
func (a *Activity) HoldsLock(name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.held, func(h *Holding) bool { return h.Event.Lock == name })
}

// Holding returns the recipes of what the client believes to hold, or is inside.
func (a *Activity) Holding() (recipes []histories.Recipe) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range a.held {
		recipes = append(recipes, a.locks[h.Lock()].Recipe)
	}
	if a.inside {
		recipes = append(recipes, histories.DoubleBarrier)
	}
	return recipes
}

// IsBusy reports whether the client holds, wants or gives back a lock.
func (a *Activity) IsBusy() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.waiting || a.releasing || len(a.held) > 0
}

// BusyIn reports whether the client holds, or waits for, a lock in a session; now is
// the one that it has.
func (a *Activity) BusyIn(session string, now string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.held) > 0 {
		return a.held[0].Event.Session == session
	}
	return (a.waiting || a.inside) && now == session
}

// LinkChanged says that a lease, perhaps the client's, has lost its link, or has it back.
func (a *Activity) LinkChanged(token histories.Token, down bool) {
	a.mu.Lock()
	held := slices.Clone(a.held)
	a.mu.Unlock()
	for _, h := range held {
		if h.has(token) {
			h.Suspended(down)
		}
	}
}

// Stands returns by which nodes the client holds and waits, as far as tokens tell.
func (a *Activity) Stands() (all []Stand) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range a.held {
		stands := h.stands()
		if h.Lingers.Load() {
			return known(stands) // the others are over in a moment
		}
		all = append(all, stands...)
	}
	if len(all) == 0 && a.waiting {
		all = append(all, a.place)
	}
	return known(all)
}

// Status adds what the client does to how it stands, for the nemesis.
func (a *Activity) Status(c *fault.Client) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.Waits, c.Enqueues, c.Holds, c.Releases = a.waiting, a.queuing, len(a.held) > 0 || a.inside, a.releasing
	c.Lingers = slices.ContainsFunc(a.held, func(h *Holding) bool { return h.Lingers.Load() })
}

// Strike counts a fault that has hit the client, and returns how many leases the client
// holds. If the fault is felt a holder should hold on for as long as the fault wants.
func (a *Activity) Strike(felt bool, endure time.Duration) (holds int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if felt {
		a.strikes++
		a.endure = time.Now().Add(endure)
	}
	return len(a.held)
}

// StrikeCount is how many faults have hit the client.
func (a *Activity) StrikeCount() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.strikes
}

// Enduring is how long the last fault wants a holder to hold on.
func (a *Activity) Enduring() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Until(a.endure)
}

// Doing is what a client does with a recipe at one moment.
type Doing struct {
	state  fault.Aim // what a fault aimed at it would be aimed at; AtAnyone when it does nothing
	recipe histories.Recipe
}

// Doing returns what the client does: with all that it holds or is inside of, and
// with what it asks for or gives back.
func (a *Activity) Doing() (all []Doing) {
	for _, r := range a.Holding() {
		all = append(all, Doing{fault.AtHolder, r})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.releasing:
		all = append(all, Doing{fault.AtReleasing, a.recipe})
	case a.queuing:
		all = append(all, Doing{fault.AtEnqueuing, a.recipe})
	case a.waiting:
		all = append(all, Doing{fault.AtWaiter, a.recipe})
	}
	if len(all) == 0 {
		all = append(all, Doing{fault.AtAnyone, a.recipe})
	}
	return all
}
