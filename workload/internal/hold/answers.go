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

// The answers of a lock about itself are judged if its target promises histories.Promises.Says.
// Leases and lockers answer the questions that they have methods for; an observer reports
// through Env.Told.

// The shares in which a client asks locks about themselves.
const (
	askGrantShare = 0.25 // of new holds
	askNodeShare  = 0.05 // of new holds: the creation of their node; or a fault met the acquire
	askFreeShare  = 0.25 // of releases: whether the lock is held
	AskQueueShare = 0.08 // of cycles: the participants in the queue
)

// saying begins an answer: it describes the lock at some time from now on.
func saying(c *client.Client) *histories.Saying {
	return &histories.Saying{Asked: c.Run.Journal.Elapsed()}
}

// answers asks the leases of a hold about themselves.
type answers struct{ *Hold }

func (h *Hold) answers() answers { return answers{h} }

// ask records the answers of one of the hold's leases about itself. depth is the lease's depth
// as its holder counts. If the hold is over or lost by then, nothing is recorded: the history
// would not show which came first.
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
		s.Valid, s.State = &valid, stateBy(lease, deadline)
		if h.settled(e.Session) {
			s.Left, s.Firm = &left, !h.Client.EndsEarly() && !h.Client.Run.Shortens
		}
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

// settled reports whether the deadline of a lease of the session does not come closer any more: servers
// that shorten the session of a client that connects again have done so.
func (h answers) settled(session string) bool {
	granted := h.Client.SessionTimeout()
	return !h.Client.Run.Shortens || 0 < granted && granted < h.Client.Run.SessionTimeout && session == h.Client.SessionName()
}

// askElsewhere records whether the client holds another lock of the recipe, if it holds no
// other lock.
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

// another returns the first other lock of a lock's recipe, "" if there is none or name is no
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

// askOtherMode records whether the client holds a read/write lock in the other mode, if it
// holds no other lock.
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

// askNow asks one of the hold's leases, given outermost first, in a share of the calls: one of those
// that are left, by their levels, or of all if none is given.
func (h answers) askNow(levels []lock.Lease, left ...int) {
	if h.Client.Asks.Float64() < askGrantShare {
		h.askOne(levels, left...)
	}
}

// askOne asks a random lease of the hold, as askNow.
func (h answers) askOne(levels []lock.Lease, left ...int) {
	var i int
	if len(left) > 0 {
		i = left[h.Client.Asks.IntN(len(left))]
	} else {
		i = h.Client.Asks.IntN(len(levels))
	}
	h.ask(levels[i], h.above+i+1)
}

// askGranted asks a share of the holds that have just begun. It looks up the creation of the
// node of another share, and of all holds whose acquire a fault has met: then the target had to
// find out when its node was created.
func (h answers) askGranted(met bool) {
	h.askNow([]lock.Lease{h.Lease})
	if h.Client.Asks.Float64() < askNodeShare || met {
		h.askNode()
	}
}

// endedEarly reports whether the context of a lease that is not lost has ended. If the context
// ends just before the loss is reported, endedEarly waits for the loss.
func (h answers) endedEarly(ctx context.Context) bool {
	for i := 0; i < 10 && ctx.Err() != nil && !h.IsLost(); i++ {
		wait.ForOr(context.Background(), histories.EndBound/10, h.Lease.Lost())
	}
	return ctx.Err() != nil && !h.IsLost()
}

// record records an answer of the hold while the hold lasts, or in any case if the answer
// contradicts itself.
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

// askLost records the answers of a lease whose loss is on record already. Its context gets time
// to end.
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
		// In steps, so that the time of a machine that stands still does not count.
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

// askFree records whether the client holds the lock that it has released.
func (h answers) askFree() {
	held := saying(h.Client)
	if held.Held = saysFree(h.Client, h.Event.Lock, h.Event.Mode); held.Held == nil {
		return
	}
	e := h.Event
	e.Type, e.Token, e.Saying = histories.Says, histories.Token{}, held
	h.Client.Record(e)
}

// companyBusy reports whether another client of the application holds, waits for or releases a
// lock.
func companyBusy(c *client.Client) bool {
	return slices.ContainsFunc(c.Siblings(), (*client.Client).IsBusy)
}

// saysFree asks whether the client holds a lock that it should not hold. It returns nil if the
// lock does not say, or if the client may hold it for another owner, perhaps in its next
// session.
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

// saysHeld asks whether the client holds a lock; nil if the lock does not say.
func saysHeld(c *client.Client, name string, mode histories.Mode) *bool {
	if l, ok := lockerOf(c, name, mode).(lock.HeldLocker); ok && name != "" {
		held := l.Held(name)
		return &held
	}
	return nil
}

// lockerOf returns the locker of a lock, nil if there is no client.
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
