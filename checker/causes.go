package checker

import (
	"cmp"
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// causes returns the start of the fault that a witness names, and the ends of its
// parties' sessions, with the starts of the faults that ended them.
func (t *trace) causes(w Witness) map[int]bool {
	found := map[int]bool{}
	ended := map[string]bool{}
	for i := range t.events {
		e := &t.events[i]
		switch e.Type {
		case histories.FaultStart:
			ends := func(end SessionEnd) bool {
				f := t.faults.endedSession(end.Session, w.To)
				return end.Forced && f != nil && f.event == i
			}
			if len(w.Faults) > 0 && e.Fault.ID == w.Faults[0].ID && e.Time == w.Faults[0].From || slices.ContainsFunc(w.SessionEnds, ends) {
				found[i] = true
			}
		case histories.Expired:
			of := func(p Party) bool { return p.Session == e.Session && e.Time <= max(p.To, w.To+lateSight) }
			if !ended[e.Session] && slices.ContainsFunc(w.Parties, of) {
				found[i] = true
			}
			ended[e.Session] = true
		}
	}
	return found
}

// explains returns the events that explain a violation without being its parties': its
// causes, the hold under which a party wrote, also one that it had lost by then, and what
// it read before. And the last event of the history,
// where the violation goes on until then; and a census that says that nothing can be
// held against the target.
func (t *trace) explains(w Witness) map[int]bool {
	keep := t.causes(w)
	for i := range t.events {
		if c := t.events[i].Census; c != nil && (len(c.Disagreements)+len(c.Diverged) > 0 || c.Late > histories.Slack(t.header.SessionTimeout)) {
			keep[i] = true
		}
	}
	if w.To == t.end {
		keep[len(t.events)-1] = true
	}
	for _, p := range w.Parties {
		for _, event := range []int{p.Invoke, p.Event} {
			if event >= 0 {
				keep[event] = true
			}
		}
		if h := t.under(t.opOf(p.Invoke)); h != nil {
			keep[h.acquire.invoke] = true
		}
		if read := t.readBefore(p.Invoke); read != nil {
			keep[read.invoke] = true
		}
	}
	return keep
}

// opOf returns the operation that an event invoked, or nil.
func (t *trace) opOf(invoke int) *op {
	i, found := slices.BinarySearchFunc(t.ops, invoke, func(o *op, invoke int) int { return cmp.Compare(o.invoke, invoke) })
	if !found {
		return nil
	}
	return t.ops[i]
}

// under returns the hold that o is an operation of; of a read or a write by a process
// that holds nothing any more, the one that it had last. It may be nil.
func (t *trace) under(o *op) *hold {
	switch {
	case o == nil:
		return nil
	case o.hold != nil || o.store == "":
		return o.hold
	}
	var last *hold
	for _, h := range t.holds {
		if h.process == o.process && h.lock == o.lock && h.start <= o.call {
			last = h
		}
	}
	return last
}

// readBefore returns what was read last, of the same counter and in the same hold,
// before the write that was invoked by an event, or nil.
func (t *trace) readBefore(invoke int) *op {
	w := t.opOf(invoke)
	if w == nil || w.kind != histories.Write || w.hold == nil {
		return nil
	}
	var read *op
	for _, o := range t.ops {
		if o.invoke < invoke && o.kind == histories.Read && o.hold == w.hold && o.store == w.store && o.ok() {
			read = o
		}
	}
	return read
}
