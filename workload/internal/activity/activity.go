// Package activity knows what the clients of a run do at each moment, and chooses whom
// faults hit by it. What is on record it has from package states; what is not, such as
// the nodes of leases and how long a holder holds on, clients tell.
package activity

import (
	"slices"
	"sync"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/states"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// Activity is what one client does and believes to hold, for faults to be aimed by,
// and what faults have hit it. What its processes do is on record; the leases that it
// has, and what they know beside that, are not.
type Activity struct {
	process func() int // the number of the current one
	Faults  *Coverage

	mu      sync.Mutex
	held    []*Holding // that it has not given back: it may have been told of a loss
	strikes int        // faults that have hit it
	endure  time.Time  // until when the last of them wants it to hold on
}

// New is the activity of a client, whose current process is told by its number.
func New(process func() int, faults *Coverage) *Activity {
	return &Activity{process: process, Faults: faults}
}

// AddHold says that the client holds something from now on.
func (a *Activity) AddHold(h *Holding) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held = append(a.held, h)
}

// DropHold says that the client does not hold it any more.
func (a *Activity) DropHold(h *Holding) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held = slices.DeleteFunc(a.held, func(other *Holding) bool { return other == h })
}

// Stop leaves the client without what it held.
func (a *Activity) Stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held = nil
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

// IsBusy reports whether the client holds, wants or gives back a lock.
func (a *Activity) IsBusy() bool { return a.Holds() > 0 || len(a.Faults.doing(a.process())) > 0 }

// BusyIn reports whether the client holds, or waits for, a lock in a session; now is
// the one that it has.
func (a *Activity) BusyIn(session string, now string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.held) > 0 {
		return a.held[0].Event.Session == session
	}
	busy := func(d states.Doing) bool { return d.State != states.Releasing }
	return now == session && slices.ContainsFunc(a.Faults.doing(a.process()), busy)
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

// Stands returns by which nodes the client holds, or waits if it holds none and the place has
// a token.
func (a *Activity) Stands() (all []Stand) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range a.held {
		stands := h.stands()
		if h.Lingers.Load() {
			return stands // the others are over in a moment
		}
		all = append(all, stands...)
	}
	if len(all) == 0 {
		if place := a.Faults.place(a.process()); place.Token != (histories.Token{}) {
			all = append(all, Stand{Lock: place.Lock, Token: place.Token})
		}
	}
	return all
}

// Status adds what the client does to how it stands, for the nemesis.
func (a *Activity) Status(c *fault.Client) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, d := range a.Faults.doing(a.process()) {
		c.States = append(c.States, d.State)
	}
	c.Lingers = slices.ContainsFunc(a.held, func(h *Holding) bool { return h.Lingers.Load() })
}

// Strike counts a fault that the client feels. A holder should hold on for as long as
// the fault wants.
func (a *Activity) Strike(endure time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.strikes++
	a.endure = time.Now().Add(endure)
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
