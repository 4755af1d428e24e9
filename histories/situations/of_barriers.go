package situations

import (
	"time"

	"github.com/zkverify/zkverify/histories"
)

// ofBarriers are the situations of the members of barriers.
func ofBarriers() []kind {
	return []kind{
		{Situation{Name: "removed-behind-a-cut", Says: "a barrier is removed while a client that waits at it is cut off", Recipes: only(histories.Barrier), Faults: clientCuts}, onEvent(func(v *view, e *histories.Event) bool {
			return e.Type == histories.OK && e.Op == histories.Remove && v.anyAt(e.Lock, func(p int, o *opened) bool { return o.op == histories.Wait && v.cut(p) })
		})},
		{Situation{Name: "set-again-too-soon", Says: "a barrier is set again before a client that waited at it has passed", Recipes: only(histories.Barrier), AtMessages: true}, setAgain},
		{Situation{Name: "leaves-while-another-enters", Says: "a member leaves a double barrier while another enters", Recipes: only(histories.DoubleBarrier), Faults: clientCuts}, onEvent(func(v *view, e *histories.Event) bool {
			other := map[histories.Op]histories.Op{histories.Leave: histories.Enter, histories.Enter: histories.Leave}[e.Op]
			return e.Type == histories.Invoke && other != "" && v.anyAt(e.Lock, func(_ int, o *opened) bool { return o.op == other })
		})},
		{Situation{Name: "enters-beside-its-old-node", Says: "a member enters a double barrier again while its node of an earlier session is there", Recipes: only(histories.DoubleBarrier), Faults: []string{"down", "black-hole", "kill-worker"}, AtMessages: true, Traced: true}, besideOldNode(func(r histories.Recipe) bool { return r == histories.DoubleBarrier })},
	}
}

// anyAt reports whether such an operation on a lock is under way.
func (v *view) anyAt(lock string, such func(process int, o *opened) bool) bool {
	for p, o := range v.open {
		if o.lock == lock && such(p, o) {
			return true
		}
	}
	return false
}

func setAgain() detector {
	removed := map[string]time.Duration{} // by lock
	return detector{event: func(v *view, e *histories.Event) bool {
		switch {
		case e.Type != histories.OK:
		case e.Op == histories.Remove:
			removed[e.Lock] = e.Time
		case e.Op == histories.Set:
			at, known := removed[e.Lock]
			return known && v.anyAt(e.Lock, func(_ int, o *opened) bool { return o.op == histories.Wait && o.since < at })
		}
		return false
	}}
}
