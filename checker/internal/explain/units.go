package explain

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/histories"
)

// unit is a group of events that are left out, or kept, together.
type unit struct {
	id       int   // its place among the units of the whole history
	under    int   // the unit of the hold under which it was done, or -1
	events   []int // indices, in order
	lock     string
	process  int
	from, to time.Duration
	kept     bool // is never left out
}

// units divides a history: into operations, where a hold goes with its acquire and the release
// that ended it, faults from start to stop, and single events. They are in the order of their
// first events.
func units(t *facts.Trace) []unit {
	of := map[int]int{} // event to an earlier one of its unit
	root := func(i int) int {
		for up, ok := of[i]; ok; up, ok = of[i] {
			i = up
		}
		return i
	}
	join := func(a, b int) {
		if a, b := root(a), root(b); a != b {
			of[max(a, b)] = min(a, b)
		}
	}
	for _, o := range t.Ops {
		if o.Done >= 0 {
			join(o.Invoke, o.Done)
		}
		for _, p := range o.Places {
			join(o.Invoke, p.Event)
		}
	}
	for _, h := range t.Holds {
		if h.EndEvent >= 0 && h.Why != facts.ByCrashing {
			join(h.Acquire.Invoke, h.EndEvent)
		}
	}
	starts := map[int]int{}
	for i := range t.Events {
		switch e := &t.Events[i]; e.Type {
		case histories.FaultStart:
			starts[e.Fault.ID] = i
		case histories.FaultStop:
			join(starts[e.Fault.ID], i)
		}
	}
	byRoot := map[int]*unit{}
	for i := range t.Events {
		e := &t.Events[i]
		u := byRoot[root(i)]
		if u == nil {
			u = &unit{lock: e.Lock, process: e.Process, from: e.Time, under: -1}
			byRoot[root(i)] = u
		}
		u.events, u.to = append(u.events, i), e.Time
	}
	id := map[int]int{} // of the root
	var all []unit
	for _, i := range slices.Sorted(maps.Keys(byRoot)) {
		id[i] = len(all)
		byRoot[i].id = len(all)
		all = append(all, *byRoot[i])
	}
	for _, o := range t.Ops {
		if o.Hold != nil && root(o.Invoke) != root(o.Hold.Acquire.Invoke) {
			all[id[root(o.Invoke)]].under = id[root(o.Hold.Acquire.Invoke)]
		}
	}
	return all
}

// eventsOf returns the indices of the events of some units, in order.
func eventsOf(units []unit) []int {
	var events []int
	for _, u := range units {
		events = append(events, u.events...)
	}
	slices.SortFunc(events, cmp.Compare)
	return events
}
