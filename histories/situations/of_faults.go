package situations

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// locks are the recipes with holders, and guarding those that guard counters.
var (
	locks    = slices.DeleteFunc(histories.Recipes(), func(r histories.Recipe) bool { return !r.IsLock() })
	guarding = slices.DeleteFunc(histories.Recipes(), func(r histories.Recipe) bool { return !r.Guards() })
)

func only(all ...histories.Recipe) []histories.Recipe { return all }

// The faults of sessions and nodes.
var (
	expiry   = []string{histories.ForcedExpiry}
	deletion = []string{histories.NodeDeletion}
	pauses   = []string{histories.WorkerPause}
)

// ofFaults are the situations that the moment of a fault makes.
func ofFaults() []kind {
	return []kind{
		{Situation{Name: "two-faults-in-a-heartbeat", Says: "two faults hit one client within one heartbeat", Faults: slices.Concat(expiry, deletion, clientCuts), AtMessages: true}, twoFaults},
		{Situation{Name: "session-ends-while-enqueuing", Says: "the session of an acquire is ended before the acquire has a place", Recipes: locks, Faults: expiry, AtMessages: true}, onEvent(func(v *view, e *histories.Event) bool {
			return expires(e, func(p int) bool {
				o := v.open[p]
				return v.opens(p, histories.Acquire) && !o.placed && v.held(p, o.lock) == nil
			})
		})},
		{Situation{Name: "session-ends-during-release", Says: "the session of a holder is ended while it releases", Recipes: locks, Faults: expiry, AtMessages: true}, onEvent(func(v *view, e *histories.Event) bool {
			return expires(e, func(p int) bool { return v.opens(p, histories.Release) && v.open[p].depth <= 1 })
		})},
		{Situation{Name: "asker-loses-session", Says: "the session of a client that asks a holder to release is ended meanwhile", Recipes: only(histories.Revocation), Faults: expiry}, onEvent(askerExpires)},
		{Situation{Name: "two-sessions-end-at-once", Says: "the sessions of two clients end within a millisecond", Faults: []string{"partition", "isolate-holder-follower", "cut-quorum", "lose-quorum"}}, twoExpire},
		{Situation{Name: "second-lock-deleted", Says: "of several locks acquired together one that is not the first has its node deleted", Recipes: only(histories.MultiLock), Faults: deletion}, onEvent(func(v *view, e *histories.Event) bool {
			return deletes(v, e, func(p int, lock string) bool { h := v.held(p, lock); return h != nil && h.Part > 0 })
		})},
		{Situation{Name: "some-permits-deleted", Says: "one of several permits of a lease is deleted", Recipes: only(histories.Semaphore, histories.SharedSemaphore), Faults: deletion}, onEvent(func(v *view, e *histories.Event) bool {
			return deletes(v, e, func(p int, lock string) bool { h := v.held(p, lock); return h != nil && h.Permits > 1 })
		})},
		{Situation{Name: "deleted-before-downgrade", Says: "the node of a writer is deleted within a heartbeat before it downgrades", Recipes: only(histories.ReadWrite), Faults: deletion, AtMessages: true}, deletedBeforeDowngrade},
	}
}

// strikes reports whether an event is the start of a fault, and not of one that strikes later, at a
// message.
func strikes(e *histories.Event) bool {
	return e.Type == histories.FaultStart && e.Fault.Params["step"] == ""
}

func twoFaults() detector {
	last := map[int]time.Duration{} // by client
	return detector{event: func(v *view, e *histories.Event) (twice bool) {
		if !strikes(e) {
			return e.Type == histories.FaultStop && e.Fault.Params["since"] == "act" && e.Fault.Params["struck"] == "2"
		}
		var hit []int
		for _, p := range e.Fault.Processes {
			c := v.client(p)
			if slices.Contains(hit, c) {
				continue
			}
			hit = append(hit, c)
			if before, known := last[c]; known && e.Time-before <= v.heartbeat() {
				twice = true
			}
			last[c] = e.Time
		}
		return twice
	}}
}

// expires reports whether an event forces the session of such a process to expire.
func expires(e *histories.Event, such func(process int) bool) bool {
	return e.Type == histories.FaultStart && e.Fault.Name == histories.ForcedExpiry && slices.ContainsFunc(e.Fault.Processes, such)
}

func askerExpires(v *view, e *histories.Event) bool {
	asks := func(p int) bool { return v.opens(p, histories.Revoke) }
	if e.Type == histories.Expired {
		s := v.sessions[e.Session]
		return s != nil && s.process >= 0 && asks(s.process)
	}
	return expires(e, asks)
}

func twoExpire() detector {
	last, at := "", time.Duration(0)
	return detector{event: func(_ *view, e *histories.Event) bool {
		if e.Type != histories.Expired {
			return false
		}
		both := last != "" && last != e.Session && e.Time-at <= moment
		last, at = e.Session, e.Time
		return both
	}}
}

// deletes reports whether an event is the deletion of a node, of such a process and lock.
func deletes(_ *view, e *histories.Event, such func(process int, lock string) bool) bool {
	return e.Type == histories.FaultStart && e.Fault.Name == histories.NodeDeletion &&
		slices.ContainsFunc(e.Fault.Processes, func(p int) bool { return such(p, e.Fault.Params["lock"]) })
}

func deletedBeforeDowngrade() detector {
	gone := map[int]time.Duration{} // by process that writes
	return detector{event: func(v *view, e *histories.Event) bool {
		deletes(v, e, func(p int, lock string) bool {
			if h := v.held(p, lock); h != nil && h.Mode == histories.ModeWrite {
				gone[p] = e.Time
			}
			return false
		})
		at, known := gone[e.Process]
		switch {
		case !known:
		case e.Type == histories.Lost || releases(e):
			delete(gone, e.Process)
		case e.Type == histories.Invoke && e.Op == histories.Acquire && e.Mode == histories.ModeRead:
			delete(gone, e.Process)
			return e.Time-at <= v.heartbeat()
		}
		return false
	}}
}
