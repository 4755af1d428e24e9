package checker

import (
	"slices"

	"github.com/zkverify/zkverify/checker/internal/explain"
	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// inMemory is the largest number of events of a history that is explained and shrunk in memory
// as a whole. Of a longer history an excerpt is used.
const inMemory = 1 << 17

// excerpt is a part of a history, with the line in the file of each event.
type excerpt struct {
	explain.Excerpt
	lines []int
	whole map[int]bool // indices of its events, without those that are included only because they are near
}

// excerptOf reads the events that explain a violation: the operations and holds, each complete,
// of so many events before and after any event of the violation, and the rare events. A history
// of at most c.inMemory events is read completely.
func (c *check) excerptOf(s Source, events int, w verdict.Witness, around int) (*excerpt, error) {
	x := &excerpt{}
	switch {
	case events <= c.inMemory && s.inMemory != nil:
		x.Events = s.inMemory.Events
		for i := range x.Events {
			x.lines = append(x.lines, s.inMemory.LineOf(i))
		}
		return x, nil
	case events <= c.inMemory:
		return x, s.each(c.ctx, func(i int, e *histories.Event) {
			x.Events, x.lines = append(x.Events, *e), append(x.lines, s.line(i))
		})
	}
	g := newGathering(c.begun(s.Header), w, around)
	if err := s.each(c.ctx, func(i int, e *histories.Event) {
		g.read(i, e, c.window)
	}); err != nil {
		return nil, err
	}
	g.finish()
	x.whole = g.keep
	at := g.indices()
	next := 0
	return x, s.each(c.ctx, func(i int, e *histories.Event) {
		if next < len(at) && at[next] == i {
			next++
			x.Events, x.At, x.lines = append(x.Events, *e), append(x.At, i), append(x.lines, s.line(i))
		}
	})
}

// trace builds the trace of the excerpt, with the event indices of the history.
func (x *excerpt) trace(t *facts.Trace) *facts.Trace {
	for place := range x.Events {
		if i := x.Index(place); x.whole == nil || x.whole[i] {
			t.Next = i
			t.Step(&x.Events[place])
		}
	}
	t.Close()
	return t
}

// places translates the events of a witness's parties from indices of the history to indices of
// the excerpt.
func (x *excerpt) places(w verdict.Witness) verdict.Witness {
	w.Parties = slices.Clone(w.Parties)
	for i := range w.Parties {
		p := &w.Parties[i]
		p.Event, p.Invoke = x.Place(p.Event), x.Place(p.Invoke)
	}
	return w
}

// history returns the part of the excerpt that consists of complete operations and holds.
func (x *excerpt) history(header histories.Header) *histories.History {
	if x.whole == nil {
		return &histories.History{Header: header, Events: x.Events}
	}
	h := &histories.History{Header: header}
	var at []int
	for place, i := range x.At {
		if x.whole[i] {
			h.Events, at = append(h.Events, x.Events[place]), append(at, i)
		}
	}
	x.Events, x.At = h.Events, at
	return h
}
