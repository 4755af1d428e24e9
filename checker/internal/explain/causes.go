package explain

import (
	"cmp"
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// causes returns the start of the fault that a witness names, and the ends of its
// parties' sessions, with the starts of the faults that ended them.
func causes(t *facts.Trace, x Excerpt, w verdict.Witness) map[int]bool {
	found := map[int]bool{}
	ended := map[string]bool{}
	for place := range x.Events {
		i, e := x.Index(place), &x.Events[place]
		switch e.Type {
		case histories.FaultStart:
			ends := func(end verdict.SessionEnd) bool {
				f := t.Faults.EndedSession(end.Session, w.To)
				return end.Forced && f != nil && f.Event == i
			}
			if len(w.Faults) > 0 && e.Fault.ID == w.Faults[0].ID && e.Time == w.Faults[0].From || slices.ContainsFunc(w.SessionEnds, ends) {
				found[i] = true
			}
		case histories.Expired:
			of := func(p verdict.Party) bool {
				return p.Session == e.Session && e.Time <= max(p.To, w.To+judge.LateSight)
			}
			if !ended[e.Session] && slices.ContainsFunc(w.Parties, of) {
				found[i] = true
			}
			ended[e.Session] = true
		}
	}
	return found
}

// Explains returns the events that explain a violation without belonging to its parties: its
// causes, the hold under which a party wrote, also one that it had lost by then, and the
// party's read before that. It adds the last event of the history, if the violation goes on
// until then, and a census by which no violation can be held against the target.
func Explains(t *facts.Trace, x Excerpt, w verdict.Witness) map[int]bool {
	keep := causes(t, x, w)
	for place := range x.Events {
		if c := x.Events[place].Census; c != nil && (len(c.Disagreements)+len(c.Diverged)+len(c.Silences) > 0 || c.Late > histories.Slack(t.Header.SessionTimeout)) {
			keep[x.Index(place)] = true
		}
	}
	if w.To == t.End {
		keep[x.Index(len(x.Events)-1)] = true
	}
	for _, p := range w.Parties {
		for _, event := range []int{p.Invoke, p.Event} {
			if event >= 0 {
				keep[event] = true
			}
		}
		if h := under(t, opOf(t, p.Invoke)); h != nil {
			keep[h.Acquire.Invoke] = true
		}
		if read := readBefore(t, p.Invoke); read != nil {
			keep[read.Invoke] = true
		}
	}
	return keep
}

// opOf returns the operation that an event invoked, or nil.
func opOf(t *facts.Trace, invoke int) *facts.Op {
	i, found := slices.BinarySearchFunc(t.Ops, invoke, func(o *facts.Op, invoke int) int { return cmp.Compare(o.Invoke, invoke) })
	if !found {
		return nil
	}
	return t.Ops[i]
}

// under returns the hold that o is an operation of. For a read or a write by a process that
// holds nothing any more it is the last hold of the process. It may be nil.
func under(t *facts.Trace, o *facts.Op) *facts.Hold {
	switch {
	case o == nil:
		return nil
	case o.Hold != nil || o.Store == "":
		return o.Hold
	}
	var last *facts.Hold
	for _, h := range t.Holds {
		if h.Process == o.Process && h.Lock == o.Lock && h.Start <= o.Call {
			last = h
		}
	}
	return last
}

// readBefore returns the last read of the same counter in the same hold before the write that
// an event invoked, or nil.
func readBefore(t *facts.Trace, invoke int) *facts.Op {
	w := opOf(t, invoke)
	if w == nil || w.Kind != histories.Write || w.Hold == nil {
		return nil
	}
	var read *facts.Op
	for _, o := range t.Ops {
		if o.Invoke < invoke && o.Kind == histories.Read && o.Hold == w.Hold && o.Store == w.Store && o.OK() {
			read = o
		}
	}
	return read
}
