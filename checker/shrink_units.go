package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// unit is what is left out together, or not.
type unit struct {
	id       int   // its place among the units of the whole history
	under    int   // the unit of the hold under which it was done, or -1
	events   []int // indices, in order
	lock     string
	process  int
	from, to time.Duration
	kept     bool // whatever happens
}

// units takes a history apart: into operations, where a hold goes with its acquire
// and the release that ended it, faults from their start to their end, and single
// events. They are in the order of their first events.
func (t *trace) units() []unit {
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
	for _, o := range t.ops {
		if o.done >= 0 {
			join(o.invoke, o.done)
		}
		for _, p := range o.places {
			join(o.invoke, p.event)
		}
	}
	for _, h := range t.holds {
		if h.endEvent >= 0 && h.why != byCrashing {
			join(h.acquire.invoke, h.endEvent)
		}
	}
	starts := map[int]int{}
	for i := range t.events {
		switch e := &t.events[i]; e.Type {
		case histories.FaultStart:
			starts[e.Fault.ID] = i
		case histories.FaultStop:
			join(starts[e.Fault.ID], i)
		}
	}
	byRoot := map[int]*unit{}
	for i := range t.events {
		e := &t.events[i]
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
	for _, o := range t.ops {
		if o.hold != nil && root(o.invoke) != root(o.hold.acquire.invoke) {
			all[id[root(o.invoke)]].under = id[root(o.hold.acquire.invoke)]
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

// history is the part of the whole history that consists of some units.
func (s *shrinker) history(units []unit) *histories.History {
	h := &histories.History{Header: s.h.Header}
	used := map[string]bool{}
	for _, i := range eventsOf(units) {
		e := s.h.Events[i]
		for _, lock := range locksOf(&e) {
			used[lock] = true
		}
		h.Events = append(h.Events, e)
	}
	if h.Header.Locks != nil {
		h.Header.Locks = maps.Clone(h.Header.Locks)
		maps.DeleteFunc(h.Header.Locks, func(lock string, _ histories.Lock) bool { return !used[lock] })
		if len(h.Header.Locks) == 0 {
			h.Header.Locks = s.h.Header.Locks
		}
	}
	h.Header.Shrunk = &histories.Shrunk{Guarantee: s.guarantee.Name, Events: len(s.h.Events), Written: s.leftOut(h)}
	if whole := s.h.Header.Shrunk; whole != nil {
		h.Header.Shrunk.Events = whole.Events
	}
	c := newCheck(s.ctx, s.opts)
	c.conventions(&h.Header)
	h.Header.ReleaseNotHeld = string(c.notHeld)
	return h
}

// writtenIn returns the values that were written in h, or may have been, to the
// counters of a store.
func writtenIn(h *histories.History, store string) map[histories.Written]bool {
	written := map[histories.Written]bool{}
	if h.Header.Shrunk != nil {
		for _, w := range h.Header.Shrunk.Written {
			written[w] = true
		}
	}
	open := map[int]histories.Written{} // the write under way, by process
	for i := range h.Events {
		e := &h.Events[i]
		if e.Op != histories.Write || e.Store != store {
			continue
		}
		w := open[e.Process]
		if e.Type == histories.Invoke || e.Value != 0 {
			w = histories.Written{Lock: e.Lock, Store: store, Value: e.Value}
		}
		delete(open, e.Process)
		switch e.Type {
		case histories.Invoke:
			open[e.Process] = w
		case histories.OK, histories.Info:
			written[w] = true
		}
	}
	for _, w := range open { // never answered
		written[w] = true
	}
	return written
}

// leftOut returns the values just below those written in h that were written by
// what was left out of it.
func (s *shrinker) leftOut(h *histories.History) []histories.Written {
	if s.written == nil {
		return nil
	}
	here := writtenIn(&histories.History{Events: h.Events}, s.guarantee.store)
	var out []histories.Written
	for w := range here {
		w.Value--
		if s.written[w] && !here[w] {
			out = append(out, w)
		}
	}
	slices.SortFunc(out, func(a, b histories.Written) int {
		return cmp.Or(cmp.Compare(a.Lock, b.Lock), cmp.Compare(a.Store, b.Store), cmp.Compare(a.Value, b.Value))
	})
	return out
}

// inWhole names the violation that w tells of, the same way in a history and in any
// part of it: by its words and times, and by its parties' events. Those of a part
// are at these indices of the whole history; nil means that w is of the whole one.
func (w *Witness) inWhole(events []int) string {
	index := func(i int) int {
		if i < 0 || i >= len(events) {
			return i
		}
		return events[i]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%q %d %d %t %s", w.Lock, w.From, w.To, w.Open, w.What)
	for _, p := range w.Parties {
		fmt.Fprintf(&b, "; %d %q %q %v %d %d %t %d %d", p.Process, p.Owner, p.Session, p.Token, p.From, p.To, p.Open, index(p.Event), index(p.Invoke))
	}
	return b.String()
}
