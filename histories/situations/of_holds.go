package situations

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/states"
)

// ofHolds are the situations around a grant, a hold and its end.
func ofHolds() []kind {
	return []kind{
		{Situation{Name: "stands-still-at-its-grant", Says: "the process of a holder stands still from the moment of the grant", Recipes: locks, Faults: pauses, AtMessages: true}, standsStill},
		{Situation{Name: "granted-past-a-paused-holder", Says: "a lock is granted while a paused process believes that it holds it", Recipes: guarding, Faults: pauses}, onEvent(grantedPastPaused)},
		{Situation{Name: "handed-on-in-a-cut", Says: "a lock is handed on within a client that is cut off", Recipes: only(histories.Handoff), Faults: clientCuts}, onEvent(func(v *view, e *histories.Event) bool {
			return acquired(e) && e.Token.Sub > 0 && v.cut(e.Process)
		})},
		{Situation{Name: "reentered-while-suspended", Says: "a holder whose link is down acquires its lock again", Recipes: locks, Faults: clientCuts}, onEvent(func(v *view, e *histories.Event) bool {
			return e.Type == histories.Invoke && e.Op == histories.Acquire && v.suspended[e.Process] && v.held(e.Process, locksOf(e)[0].Lock) != nil
		})},
		{Situation{Name: "released-while-suspended", Says: "a holder whose link is down releases its lock", Recipes: locks, Faults: clientCuts}, onEvent(func(v *view, e *histories.Event) bool {
			return releases(e) && v.suspended[e.Process]
		})},
		{Situation{Name: "cancelled-at-its-turn", Says: "an acquire fails within a millisecond after the holder has released", Recipes: locks, AtMessages: true}, cancelledAtItsTurn},
		{Situation{Name: "fence-refuses", Says: "a fence refuses the write of a holder that has lost its lock", Recipes: guarding, Faults: slices.Concat(pauses, expiry)}, onEvent(refused(histories.StoreFenced))},
		{Situation{Name: "guarded-write-refused", Says: "ZooKeeper refuses the guarded write of a holder that has lost its lock", Recipes: guarding, Faults: slices.Concat(expiry, deletion)}, onEvent(refused(histories.StoreGuarded))},
		{Situation{Name: "size-below-use", Says: "a semaphore is made smaller than the number of permits in use", Recipes: only(histories.SharedSemaphore)}, onEvent(sizeBelowUse)},
		{Situation{Name: "asked-too-late", Says: "a holder is asked to release, and its lease is over", Recipes: only(histories.Revocation), Faults: slices.Concat(expiry, clientCuts)}, askedTooLate},
		{Situation{Name: "asked-behind-a-cut", Says: "a holder that is cut off is asked to release", Recipes: only(histories.Revocation), Faults: clientCuts}, onEvent(func(v *view, e *histories.Event) bool {
			return e.Type == histories.OK && e.Op == histories.Revoke && slices.ContainsFunc(v.holds[e.Lock], func(h *states.Hold) bool { return h.Token == e.Token && v.cut(h.Process) })
		})},
	}
}

func standsStill() detector {
	granted := map[int]time.Duration{} // by process: nothing has happened to it since
	return detector{event: func(v *view, e *histories.Event) bool {
		if e.Process < 0 {
			return false
		}
		at, known := granted[e.Process]
		delete(granted, e.Process)
		if acquired(e) && v.paused(e.Process) {
			granted[e.Process] = e.Time
		}
		return known && e.Time-at >= v.header.SessionTimeout/8
	}}
}

func grantedPastPaused(v *view, e *histories.Event) bool {
	if !acquired(e) || e.Mode == histories.ModeRead {
		return false
	}
	return slices.ContainsFunc(locksOf(e), func(l histories.Part) bool {
		return slices.ContainsFunc(v.holds[l.Lock], func(h *states.Hold) bool { return h.Process != e.Process && !h.Lost && v.paused(h.Process) })
	})
}

func cancelledAtItsTurn() detector {
	released := lately{} // by lock
	return detector{event: func(_ *view, e *histories.Event) bool {
		switch {
		case e.Type == histories.OK && e.Op == histories.Release && e.Depth <= 1:
			for _, l := range locksOf(e) {
				released[l.Lock] = e.Time
			}
		case e.Type == histories.Fail && e.Op == histories.Acquire:
			return slices.ContainsFunc(locksOf(e), func(l histories.Part) bool { return released.happened(l.Lock, e.Time) })
		}
		return false
	}}
}

// refused returns a function that recognizes a write that a store has refused.
func refused(store string) func(*view, *histories.Event) bool {
	return func(_ *view, e *histories.Event) bool {
		return e.Type == histories.Fail && e.Op == histories.Write && e.Store == store
	}
}

func sizeBelowUse(v *view, e *histories.Event) bool {
	if e.Type != histories.OK || e.Op != histories.SetSize {
		return false
	}
	used := 0
	for _, h := range v.holds[e.Lock] {
		if !h.Lost {
			used += h.Permits
		}
	}
	return e.Size < used
}

func askedTooLate() detector {
	granted := map[histories.Token]bool{}
	return detector{event: func(v *view, e *histories.Event) bool {
		switch {
		case acquired(e) && v.header.RecipeOf(e.Lock) == histories.Revocation:
			granted[e.Token] = true
		case e.Type == histories.OK && e.Op == histories.Revoke && granted[e.Token]:
			return !slices.ContainsFunc(v.holds[e.Lock], func(h *states.Hold) bool { return h.Token == e.Token && !h.Lost })
		}
		return false
	}}
}
