package journal

import (
	"slices"
	"sync"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/states"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// Activity is the present activity of one client: what it does, what it believes to hold, and
// the faults that have hit it. Faults are aimed by it. The operations of its processes are on
// record; its leases, and what they know beyond that, are not.
type Activity struct {
	process func() int // the number of the current one
	Faults  *Coverage

	mu      sync.Mutex
	held    []*Holding // not given back yet: the client may have been told of a loss
	strikes int        // faults that have hit it
	endure  time.Time  // until when the last of them wants it to hold on
}

// NewActivity returns the activity of a client. process returns the number of its current process.
func NewActivity(process func() int, faults *Coverage) *Activity {
	return &Activity{process: process, Faults: faults}
}

// AddHold records that the client holds h from now on.
func (a *Activity) AddHold(h *Holding) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held = append(a.held, h)
}

// DropHold records that the client does not hold h any more.
func (a *Activity) DropHold(h *Holding) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held = slices.DeleteFunc(a.held, func(other *Holding) bool { return other == h })
}

// Stop drops everything that the client held.
func (a *Activity) Stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held = nil
}

// Holds returns the number of holds that the client believes to have.
func (a *Activity) Holds() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.held)
}

// HoldsLock reports whether the client believes to hold a lock that was acquired alone.
func (a *Activity) HoldsLock(name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.held, func(h *Holding) bool { return h.Event.Lock == name })
}

// IsBusy reports whether the client holds, waits for or releases a lock.
func (a *Activity) IsBusy() bool { return a.Holds() > 0 || len(a.Faults.doing(a.process())) > 0 }

// BusyIn reports whether the client holds, or waits for, a lock in a session; now is the
// client's current session.
func (a *Activity) BusyIn(session string, now string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.held) > 0 {
		return a.held[0].Event.Session == session
	}
	busy := func(d states.Doing) bool { return d.State != states.Releasing }
	return now == session && slices.ContainsFunc(a.Faults.doing(a.process()), busy)
}

// LinkChanged records that a lease, perhaps the client's, has lost its link, or has it back.
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

// Stands returns the locks that the client holds, with their nodes, or, if it holds none, the
// locks that it waits for, provided that its places have tokens.
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
		for _, place := range a.Faults.places(a.process()) {
			if place.Token != (histories.Token{}) {
				all = append(all, Stand{Lock: place.Lock, Token: place.Token})
			}
		}
	}
	return all
}

// Status adds the client's activity to its description for the nemesis.
func (a *Activity) Status(c *fault.Client) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, d := range a.Faults.doing(a.process()) {
		c.States = append(c.States, d.State)
	}
	c.Lingers = a.lingers()
}

// lingers reports whether a hold would go on if a fault hit the client. The caller holds mu.
func (a *Activity) lingers() bool {
	return slices.ContainsFunc(a.held, func(h *Holding) bool { return h.Lingers.Load() })
}

// Keep is Strike for a holder that lingers. It reports false if the client is none.
func (a *Activity) Keep(endure time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.lingers() {
		return false
	}
	a.strikes++
	a.endure = time.Now().Add(endure)
	return true
}

// Strike counts a fault that hits the client. A holder should hold on for as long as the fault
// wants.
func (a *Activity) Strike(endure time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.strikes++
	a.endure = time.Now().Add(endure)
}

// StrikeCount returns the number of faults that have hit the client.
func (a *Activity) StrikeCount() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.strikes
}

// Enduring returns the time for which the last fault wants a holder to hold on.
func (a *Activity) Enduring() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Until(a.endure)
}
