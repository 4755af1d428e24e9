package shrink

import (
	"cmp"
	"maps"
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/histories"
)

// history is the part of the whole history that consists of some units.
func (s *shrinker) history(units []unit) *histories.History {
	h := &histories.History{Header: s.h.Header}
	used := map[string]bool{}
	for _, i := range eventsOf(units) {
		e := s.h.Events[i]
		for _, lock := range facts.LocksOf(&e) {
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
	h.Header.Shrunk = &histories.Shrunk{Guarantee: s.Guarantee, Events: len(s.h.Events), Written: s.leftOut(h)}
	if whole := s.h.Header.Shrunk; whole != nil {
		h.Header.Shrunk.Events = whole.Events
	}
	h.Header.ReleaseNotHeld = s.NotHeld
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
	here := writtenIn(&histories.History{Events: h.Events}, s.Store)
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
