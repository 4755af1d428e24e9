package judge

import (
	"cmp"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
)

// NewWitness returns the witness of a violation, without its sentence. It clips the times to the
// history and finds the relevant faults.
func NewWitness(t *facts.Trace, lock string, from, to time.Duration, parties ...verdict.Party) verdict.Witness {
	w := verdict.Witness{Lock: lock, From: from, To: to, Parties: parties}
	if to == facts.Forever {
		w.Open = true
	}
	CompleteWitness(t, &w)
	return w
}

// CompleteWitness adds the faults around a violation, and the ends of its parties' sessions.
func CompleteWitness(t *facts.Trace, w *verdict.Witness) {
	if w.Open {
		w.To = t.End
	}
	w.Faults = faultsAround(t, w.Lock, w.From, w.To, w.Parties)
	if more := len(w.Faults) - maxFaults; more > 0 {
		w.Faults, w.MoreFaults = w.Faults[:maxFaults], more
	}
	w.SessionEnds = sessionEnds(t, w.To, w.Parties)
}

// maxFaults bounds the faults that one witness lists.
const maxFaults = 5

// faultsAround returns the faults active in [from, to] or stopped just before. Just before
// means within two session timeouts: the effects of a fault (a session that runs out, an
// election) are over by then.
func faultsAround(t *facts.Trace, lock string, from, to time.Duration, parties []verdict.Party) []verdict.FaultSpan {
	before := 2 * t.Header.SessionTimeout
	if before <= 0 {
		before = 5 * time.Second
	}
	var found []verdict.FaultSpan
	robbed := map[int]bool{} // faults, by id, that took the lock from the first party
	for f := range t.Faults.In(from-before, to) {
		s := verdict.FaultSpan{Fault: *f.Fault, From: f.Start, To: f.Stop}
		if f.Stop == facts.Forever {
			s.To, s.Open = t.End, true
		}
		found = append(found, s)
		if len(parties) > 0 {
			p := parties[0]
			robbed[s.ID] = f.Robbed(lock, p.Token, p.Session, p.From, p.To)
		}
	}
	// A fault that deleted the first party's node or ended its session comes before all others.
	// A fault of the first party, who held or wanted the lock before the other, comes before
	// one of another party, and that before one of no party.
	hits := func(f verdict.FaultSpan) int {
		for i, p := range parties {
			if slices.Contains(f.Processes, p.Process) {
				return i
			}
		}
		return len(parties)
	}
	// The likeliest cause hit few others, and began last before the violation.
	slices.SortStableFunc(found, func(a, b verdict.FaultSpan) int {
		if robbed[a.ID] != robbed[b.ID] {
			if robbed[a.ID] {
				return -1
			}
			return 1
		}
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
	return found
}
