package explain

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/histories"
)

// history returns the part of the whole history that consists of some units.
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
	h.Header.Shrunk = &histories.Shrunk{Guarantee: s.Guarantee, Events: s.Events, Written: s.leftOut(h)}
	if whole := s.h.Header.Shrunk; whole != nil {
		h.Header.Shrunk.Events = whole.Events
	}
	h.Header.ReleaseNotHeld = s.NotHeld
	return h
}

// writes collects the values that were written, or may have been, to the counters of a store.
type writes struct {
	store   string
	written map[histories.Written]bool
	open    map[int]histories.Written // the write under way, by process
}

func newWrites(store string) *writes {
	return &writes{store, map[histories.Written]bool{}, map[int]histories.Written{}}
}

func (w *writes) step(e *histories.Event) {
	if e.Op != histories.Write || e.Store != w.store {
		return
	}
	v := w.open[e.Process]
	if e.Type == histories.Invoke || e.Value != 0 {
		v = histories.Written{Lock: e.Lock, Store: w.store, Value: e.Value}
	}
	delete(w.open, e.Process)
	switch e.Type {
	case histories.Invoke:
		w.open[e.Process] = v
	case histories.OK, histories.Info:
		w.written[v] = true
	}
}

// all returns the values, when all events have been read.
func (w *writes) all() map[histories.Written]bool {
	for _, v := range w.open { // never answered
		w.written[v] = true
	}
	return w.written
}

// writtenIn returns the values that were written in a part.
func (s *shrinker) writtenIn(h *histories.History) map[histories.Written]bool {
	w := newWrites(s.Store)
	for i := range h.Events {
		w.step(&h.Events[i])
	}
	return w.all()
}

// readWritten collects the values, of those just below a value written in h, that were written
// in the whole history.
func (s *shrinker) readWritten() error {
	below := map[histories.Written]bool{}
	for w := range s.writtenIn(s.h) {
		w.Value--
		below[w] = true
	}
	s.written = map[histories.Written]bool{}
	add := func(w histories.Written) {
		if below[w] {
			s.written[w] = true
		}
	}
	if shrunk := s.h.Header.Shrunk; shrunk != nil {
		for _, w := range shrunk.Written {
			add(w)
		}
	}
	w := newWrites(s.Store)
	for e, err := range s.Whole {
		switch {
		case err != nil:
			return err
		case s.ctx.Err() != nil:
			return context.Cause(s.ctx)
		}
		w.step(e)
		for v := range w.written { // at most one
			add(v)
			delete(w.written, v)
		}
	}
	for v := range w.all() {
		add(v)
	}
	return nil
}

// leftOut returns the values just below those written in h that were written by operations left
// out of h.
func (s *shrinker) leftOut(h *histories.History) []histories.Written {
	if s.written == nil {
		return nil
	}
	here := s.writtenIn(h)
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
