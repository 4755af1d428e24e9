package checker

import (
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/story"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// inMemory is how many events of a history are explained and shrunk in memory, all of them. Of
// a longer one an excerpt is enough.
const inMemory = 1 << 17

// excerpt is a part of a history, with the lines of its events in the file.
type excerpt struct {
	story.Excerpt
	lines []int
	whole map[int]bool // indices of its events; those that are only near are not among them
}

// excerptOf reads what explains a violation: what took place among so many events before and
// after anything of the violation, whole operations and whole holds, and what is rare. Nothing
// is left out of a history of few events.
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

// trace takes the excerpt apart, with the indices of the history.
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

// places is a witness as the excerpt has it: its parties' events are places of it.
func (x *excerpt) places(w verdict.Witness) verdict.Witness {
	w.Parties = slices.Clone(w.Parties)
	for i := range w.Parties {
		p := &w.Parties[i]
		p.Event, p.Invoke = x.Place(p.Event), x.Place(p.Invoke)
	}
	return w
}

// history is the part of the history that consists of whole operations and holds.
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
