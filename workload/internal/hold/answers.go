package hold

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/lock"
)

// What a lock says of itself is judged if its target promises
// histories.Promises.Says. Leases and lockers say as much as they have methods
// for; an observer is told by way of Env.Told.

// asking decides how often locks are asked of themselves, by shares.
const (
	askGrantShare = 0.25 // of new holds
	askNodeShare  = 0.05 // of new holds: when their node was created, and of all those that a fault has met
	askFreeShare  = 0.25 // of releases: whether the lock is held
	AskQueueShare = 0.08 // of cycles: who stands in the queue
)

// saying begins an answer: what is said from now on was not so before.
func saying(c *client.Client) *histories.Saying {
	return &histories.Saying{Asked: c.Run.Journal.Elapsed()}
}

// answers are what a hold's leases say of themselves.
type answers struct{ *Hold }

func (h *Hold) answers() answers { return answers{h} }

// ask puts on record what one of the hold's leases, of a depth as its holder
// counts, says of itself. When the hold is over or lost by then, it is not: the
// history would not show what came first.
func (h answers) ask(lease lock.Lease, depth int) {
	if !h.Client.Run.Promises.Says {
		return
	}
	e := h.Event
	if part, ok := lease.(partLease); ok {
		lease, e = part.Lease, h.part(part.lock)
	}
	s := saying(h.Client)
	asked := time.Now()
	if l, ok := lease.(lock.NestedLease); ok {
		s.Depth = l.Depth()
	}
	if l, ok := lease.(lock.DeadlineLease); ok {
		deadline := l.Deadline()
		valid := lease.Valid()
		left := l.Deadline().Sub(asked)
		s.Valid, s.Left, s.State = &valid, &left, stateBy(lease, deadline)
	}
	if l, ok := lease.(lock.PartsDeadlineLease); ok {
		least := slices.MinFunc(l.PartDeadlines(), time.Time.Compare).Sub(asked)
		s.Least = &least
	}
	if l, ok := lease.(lock.ContextLease); ok {
		ended := h.endedEarly(l.Context())
		s.Ended = &ended
	}
	s.Held = saysHeld(h.Client, e.Lock, e.Mode)
	h.record(e, depth, s, false)
	if e.Mode != "" {
		h.askOtherMode()
	}
	h.askElsewhere()
}

// askElsewhere puts on record whether the client holds another lock of the recipe, if it
// holds nothing else.
func (h answers) askElsewhere() {
	other := another(h.Client.Run.Locks, h.Event.Lock)
	if other == "" || h.Client.Holds() != 1 {
		return
	}
	s, e := saying(h.Client), h.Event
	e.Lock, e.Token = other, histories.Token{}
	s.Held = saysFree(h.Client, other, e.Mode)
	h.record(e, 0, s, false)
}

// another returns the first other lock of a lock's recipe, "" if there is none, or no
// lock.
func another(locks map[string]histories.Lock, name string) string {
	of, ok := locks[name]
	for _, other := range slices.Sorted(maps.Keys(locks)) {
		if ok && other != name && locks[other].Recipe == of.Recipe {
			return other
		}
	}
	return ""
}

// askOtherMode puts on record whether the client holds a read/write lock in the mode in
// which it does not, if it holds nothing else.
func (h answers) askOtherMode() {
	s, e := saying(h.Client), h.Event
	e.Token = histories.Token{}
	if e.Mode = histories.ModeRead; h.Event.Mode == histories.ModeRead {
		e.Mode = histories.ModeWrite
	}
	if h.Client.Holds() == 1 {
		s.Held = saysFree(h.Client, e.Lock, e.Mode)
	}
	h.record(e, 0, s, false)
}

// askNow asks one of the hold's leases, given outermost first, now and then.
func (h answers) askNow(levels []lock.Lease) {
	if h.Client.Asks.Float64() < askGrantShare {
		h.askOne(levels)
	}
}

// askOne asks any one of the hold's leases.
func (h answers) askOne(levels []lock.Lease) {
	i := h.Client.Asks.IntN(len(levels))
	h.ask(levels[i], h.above+i+1)
}

// askGranted asks a hold that has just begun now and then, and when its node was
// created if a fault has met its acquire: that is when a target must find that out.
func (h answers) askGranted(met bool) {
	h.askNow([]lock.Lease{h.Lease})
	if h.Client.Asks.Float64() < askNodeShare || met {
		h.askNode()
	}
}

// endedEarly reports whether the context of a lease that is not lost has ended. A
// loss that ends the context first is waited for.
func (h answers) endedEarly(ctx context.Context) bool {
	for i := 0; i < 10 && ctx.Err() != nil && !h.IsLost(); i++ {
		wait.ForOr(context.Background(), histories.EndBound/10, h.Lease.Lost())
	}
	return ctx.Err() != nil && !h.IsLost()
}

// record puts a saying of the hold's on record while the hold lasts, or its
// contradiction to itself in any case.
func (h answers) record(e histories.Event, depth int, s *histories.Saying, always bool) {
	e.Type, e.Depth, e.Saying = histories.Says, depth, s
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over || !always && h.isLostLocked() {
		return
	}
	if s.Valid == nil && s.Depth == 0 && s.Ended == nil && s.Held == nil && s.Created == 0 && s.State == "" {
		return // it says nothing
	}
	h.Client.Record(e)
}

// askLost puts on record what a lease says of itself that is lost, as is on record
// already. Its context gets time to end.
func (h answers) askLost(lease lock.Lease) {
	if !h.Client.Run.Promises.Says {
		return
	}
	e := h.Event
	if part, ok := lease.(partLease); ok {
		select {
		case <-part.Lost():
			lease, e = part.Lease, h.part(part.lock)
		default: // it was another of the locks, by its node
			lease = h.Lease
		}
	}
	s := saying(h.Client)
	if l, ok := lease.(lock.ContextLease); ok {
		// In steps, so that a machine that stands still does not count.
		for i := 0; i < 10 && l.Context().Err() == nil; i++ {
			wait.ForOr(context.Background(), histories.EndBound/5, l.Context().Done())
		}
		ended := l.Context().Err() != nil
		s.Ended = &ended
	}
	valid := lease.Valid()
	s.Valid, s.State, s.Held = &valid, stateOf(lease), saysFree(h.Client, e.Lock, e.Mode)
	h.record(e, 0, s, true)
}

// askFree puts on record whether the lock is held that the client has given back.
func (h answers) askFree() {
	held := saying(h.Client)
	if held.Held = saysFree(h.Client, h.Event.Lock, h.Event.Mode); held.Held == nil {
		return
	}
	e := h.Event
	e.Type, e.Token, e.Saying = histories.Says, histories.Token{}, held
	h.Client.Record(e)
}

// companyBusy reports whether another client of the application holds, wants or gives
// back a lock.
func companyBusy(c *client.Client) bool {
	return slices.ContainsFunc(c.Siblings(), (*client.Client).IsBusy)
}

// saysFree asks whether the client holds a lock that it should not hold: nil if it does
// not say, or may hold the lock in the name of another, perhaps in its next session.
func saysFree(c *client.Client, name string, mode histories.Mode) *bool {
	if companyBusy(c) {
		return nil
	}
	held := saysHeld(c, name, mode)
	if companyBusy(c) {
		return nil
	}
	return held
}

// saysHeld asks whether the client holds a lock; nil if it does not say.
func saysHeld(c *client.Client, name string, mode histories.Mode) *bool {
	if l, ok := lockerOf(c, name, mode).(lock.HeldLocker); ok && name != "" {
		held := l.Held(name)
		return &held
	}
	return nil
}

// lockerOf returns what gets a lock, nil if there is no client.
func lockerOf(c *client.Client, name string, mode histories.Mode) any {
	target, recipe := c.Target(), c.Run.Locks[name].Recipe
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
