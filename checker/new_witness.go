package checker

import (
	"cmp"
	"slices"
	"time"
)

// newWitness clips the times to the history and finds the faults that matter.
func (t *trace) newWitness(lock string, from, to time.Duration, parties ...Party) Witness {
	w := Witness{Lock: lock, From: from, To: to, Parties: parties}
	if to == forever {
		w.To, w.Open = t.end, true
	}
	w.Faults = t.faultsAround(w.From, w.To, parties)
	w.SessionEnds = t.sessionEnds(w.To, parties)
	return w
}

// maxFaults bounds the faults that one witness lists.
const maxFaults = 5

// faultsAround returns the faults active in [from, to] or stopped just before.
// Just before is two session timeouts: what a fault set in motion (a session
// that runs out, an election) is over by then.
func (t *trace) faultsAround(from, to time.Duration, parties []Party) []FaultSpan {
	before := 2 * t.header.SessionTimeout
	if before <= 0 {
		before = 5 * time.Second
	}
	var found []FaultSpan
	for _, f := range t.faults.all {
		if f.start <= to && f.stop >= from-before {
			s := FaultSpan{Fault: *f.Fault, From: f.start, To: f.stop}
			if f.stop == forever {
				s.To, s.Open = t.end, true
			}
			found = append(found, s)
		}
	}
	// A fault of the first party, who held or wanted the lock before the other,
	// comes before one of another party, and that before one of neither.
	hits := func(f FaultSpan) int {
		for i, p := range parties {
			if slices.Contains(f.Processes, p.Process) {
				return i
			}
		}
		return len(parties)
	}
	// The likeliest cause hit few others, and began last before the violation.
	slices.SortStableFunc(found, func(a, b FaultSpan) int {
		if c := cmp.Or(hits(a)-hits(b), len(a.Processes)-len(b.Processes)); c != 0 {
			return c
		}
		switch {
		case a.From > from && b.From <= from:
			return 1
		case a.From <= from && b.From > from:
			return -1
		}
		return int(b.From - a.From)
	})
	return found[:min(len(found), maxFaults)]
}
