package workload

import (
	"context"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// What a lock says of itself is judged if its target promises
// histories.Promises.Says. Leases and lockers say as much as they have methods
// for; an observer is told by way of Env.Told.

// asking decides how often locks are asked of themselves, by shares.
const (
	askGrant = 0.25 // of new holds
	askNode  = 0.05 // of new holds: when their node was created, and of all those that a fault has met
	askFree  = 0.25 // of releases: whether the lock is held
	askQueue = 0.08 // of cycles: who stands in the queue
)

// saying begins an answer: what is said from now on was not so before.
func (c *client) saying() *histories.Saying {
	return &histories.Saying{Asked: c.run.journal.Elapsed()}
}

// ask puts on record what one of the hold's leases, of a depth as its holder
// counts, says of itself. When the hold is over or lost by then, it is not: nobody
// knows what came first.
func (h *hold) ask(lease lock.Lease, depth int) {
	if !h.c.run.promises.Says {
		return
	}
	e := h.event
	if part, ok := lease.(partLease); ok {
		lease, e = part.Lease, h.part(part.lock)
	}
	s := h.c.saying()
	asked := time.Now()
	if l, ok := lease.(lock.NestedLease); ok {
		s.Depth = l.Depth()
	}
	if l, ok := lease.(lock.DeadlineLease); ok {
		valid := lease.Valid()
		left := l.Deadline().Sub(asked)
		s.Valid, s.Left = &valid, &left
	}
	if l, ok := lease.(lock.PartsDeadlineLease); ok {
		least := slices.MinFunc(l.PartDeadlines(), time.Time.Compare).Sub(asked)
		s.Least = &least
	}
	if l, ok := lease.(lock.ContextLease); ok {
		ended := h.endedEarly(l.Context())
		s.Ended = &ended
	}
	s.Held = h.c.saysHeld(e.Lock, e.Mode)
	h.record(e, depth, s, false)
	if e.Mode != "" {
		h.askOtherMode()
	}
}

// askOtherMode puts on record whether the client holds a read/write lock in the mode in
// which it does not, if it holds nothing else.
func (h *hold) askOtherMode() {
	s, e := h.c.saying(), h.event
	e.Token = histories.Token{}
	if e.Mode = histories.ModeRead; h.event.Mode == histories.ModeRead {
		e.Mode = histories.ModeWrite
	}
	if h.c.holds() == 1 {
		s.Held = h.c.saysFree(e.Lock, e.Mode)
	}
	h.record(e, 0, s, false)
}

// askNow asks one of the hold's leases, given outermost first, now and then.
func (h *hold) askNow(levels []lock.Lease) {
	if h.c.asks.Float64() < askGrant {
		h.askOne(levels)
	}
}

// askOne asks any one of the hold's leases.
func (h *hold) askOne(levels []lock.Lease) {
	i := h.c.asks.IntN(len(levels))
	h.ask(levels[i], h.above+i+1)
}

// askGranted asks a hold that has just begun now and then, and when its node was
// created if a fault has met its acquire: that is when a target must find that out.
func (h *hold) askGranted(met bool) {
	h.askNow([]lock.Lease{h.lease})
	if h.c.asks.Float64() < askNode || met {
		h.askNode()
	}
}

// endedEarly reports whether the context of a lease that is not lost has ended. A
// loss that ends the context first is waited for.
func (h *hold) endedEarly(ctx context.Context) bool {
	for i := 0; i < 10 && ctx.Err() != nil && !h.isLost(); i++ {
		pause(context.Background(), histories.EndBound/10, h.lease.Lost())
	}
	return ctx.Err() != nil && !h.isLost()
}

// record puts a saying of the hold's on record while the hold lasts, or its
// contradiction to itself in any case.
func (h *hold) record(e histories.Event, depth int, s *histories.Saying, always bool) {
	e.Type, e.Depth, e.Saying = histories.Says, depth, s
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over || !always && h.isLostLocked() {
		return
	}
	if s.Valid == nil && s.Depth == 0 && s.Ended == nil && s.Held == nil && s.Created == 0 {
		return // it says nothing
	}
	h.c.record(e)
}

// askLost puts on record what a lease says of itself that is lost, as is on record
// already. Its context gets time to end.
func (h *hold) askLost(lease lock.Lease) {
	if !h.c.run.promises.Says {
		return
	}
	e := h.event
	if part, ok := lease.(partLease); ok {
		select {
		case <-part.Lost():
			lease, e = part.Lease, h.part(part.lock)
		default: // it was another of the locks, by its node
			lease = h.lease
		}
	}
	s := h.c.saying()
	if l, ok := lease.(lock.ContextLease); ok {
		// In steps, so that a machine that stands still does not count.
		for i := 0; i < 10 && l.Context().Err() == nil; i++ {
			pause(context.Background(), histories.EndBound/5, l.Context().Done())
		}
		ended := l.Context().Err() != nil
		s.Ended = &ended
	}
	valid := lease.Valid()
	s.Valid, s.Held = &valid, h.c.saysFree(e.Lock, e.Mode)
	h.record(e, 0, s, true)
}

// askFree puts on record whether the lock is held that the client has given back.
func (h *hold) askFree() {
	held := h.c.saying()
	if held.Held = h.c.saysFree(h.event.Lock, h.event.Mode); held.Held == nil {
		return
	}
	e := h.event
	e.Type, e.Token, e.Saying = histories.Says, histories.Token{}, held
	h.c.record(e)
}

// companyBusy reports whether somebody who shares the client's session holds, wants
// or gives back a lock.
func (c *client) companyBusy() bool {
	for _, other := range c.home.members {
		if other == c {
			continue
		}
		other.mu.Lock()
		busy := other.waiting || other.releasing || len(other.held) > 0
		other.mu.Unlock()
		if busy {
			return true
		}
	}
	return false
}

// saysFree asks whether the client holds a lock that it should not hold: nil if it does
// not say, or may hold the lock in the name of another, perhaps in its next session.
func (c *client) saysFree(name string, mode histories.Mode) *bool {
	if c.companyBusy() {
		return nil
	}
	held := c.saysHeld(name, mode)
	if c.companyBusy() {
		return nil
	}
	return held
}

// saysHeld asks whether the client holds a lock; nil if it does not say.
func (c *client) saysHeld(name string, mode histories.Mode) *bool {
	if l, ok := c.lockerOf(name, mode).(lock.HeldLocker); ok && name != "" {
		held := l.Held(name)
		return &held
	}
	return nil
}

// lockerOf returns what gets a lock, nil if there is no client.
func (c *client) lockerOf(name string, mode histories.Mode) any {
	target, recipe := c.client(), c.run.locks[name].Recipe
	switch {
	case target == nil || name == "":
		return nil
	case recipe.HasPermits():
		l, _ := lock.PermitsOf(target, recipe)
		return l
	}
	l, _ := lock.LockerOf(target, recipe, mode)
	return l
}

// told is Env.Told: it puts on record what an observer of the client was told.
func (c *client) told(t lock.Telling) {
	if !c.run.promises.Says {
		return
	}
	s := c.saying()
	s.Told = t.What
	c.recordOfClient(histories.Event{Type: histories.Says, Lock: t.Lock, Token: t.Token, Session: lock.SessionName(t.Session), Saying: s})
}
