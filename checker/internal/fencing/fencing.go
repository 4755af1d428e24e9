package fencing

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// fencingJudge judges the service view: regardless of the clients' beliefs, the grants of one lock
// carry tokens that strictly grow, consistently with real time. If one acquire returned before
// another was invoked, its token is the smaller one; no two outermost holds share a token; a
// re-entry carries the token of its hold.
//
// Two acquires that overlap in time may carry tokens in either order: a token is a place in the
// queue, and the acquire that was answered first need not have been granted first.
//
// Acquires that overlap are compared with the order of their holds, see turnOrder.
//
// For a read/write lock the same holds for every writer, after a reader or a writer. A reader
// needs no newer token: it writes nothing.
type fencingJudge struct {
	v         *verdict.Verdict
	all, bare int
	locks     facts.PerLock[grants]
}

// grants are the grants of one lock that later ones are compared with.
type grants struct {
	newest *facts.Hold   // the greatest token of those that are not in recent
	recent []*facts.Hold // those that had not returned when the oldest acquire under way was invoked
	turns  turnOrder
}

// NewFencing returns the judge that judges tokens.
func NewFencing(_ *facts.Trace, v *verdict.Verdict) judge.Judge {
	v.Expected = true
	return &fencingJudge{v: v}
}

func (j *fencingJudge) Window(_ *judge.Engines, t *facts.Trace) (kept int) {
	all := t.HoldsThat(histories.Recipe.Guards)
	granted := map[*facts.LockInfo][]*facts.Hold{}
	for _, h := range facts.Each(t, all) {
		if t.Begun(h) {
			j.all++
			if h.Token == (histories.Token{}) {
				j.bare++
				j.v.Violate(func() verdict.Witness { return noToken(t, h) })
			} else if !t.Faults.HandedBlindly(h) {
				granted[h.Info()] = append(granted[h.Info()], h)
			}
		}
		if !t.Over(h) {
			continue
		}
		for _, re := range h.Reentries() {
			if re.Token != h.Token {
				j.v.Violate(func() verdict.Witness { return otherToken(t, h, re) })
			}
		}
	}
	oldest := t.OldestAcquires()
	for lock := range t.LocksThat(histories.Recipe.Guards) {
		g := j.locks.Make(lock, func() *grants { return &grants{} })
		if len(granted[lock])+len(g.recent)+len(g.turns.doubts) == 0 {
			continue
		}
		g.recent = append(g.recent, granted[lock]...)
		g.order(j.v, t)
		if t.Header.Promises.TellsLoss { // otherwise an answered release proves nothing
			for _, h := range facts.Each(t, granted[lock]) {
				g.turns.returned(h)
			}
			g.turns.settle(j.v, t)
		}
		g.forget(oldest(lock))
		kept += len(g.recent) + len(g.turns.doubts)
	}
	return kept
}

func (j *fencingJudge) Conclude(_ *judge.Engines, t *facts.Trace) {
	v := j.v
	v.Promised = t.Header.Promises.Tokens
	v.Count("grants", j.all)
	v.Count("grants without a token", j.bare)
	if j.all == 0 {
		v.Idle("no client ever held a lock")
		return
	}
	v.Conclude(fmt.Sprintf("the tokens of %s grow", words.Count(j.all, "grant")), words.Count(v.Violations, "grant")+" with a token that does not fence")
}

// order finds, for each grant, the greatest token among the grants that had returned before it
// was invoked: one pass over the grants by invocation with a second pointer over them by
// return. At least one of the two grants of a violation is from this window.
func (g *grants) order(v *verdict.Verdict, t *facts.Trace) {
	byCall, byStart, same := g.recent, g.recent, g.same()
	if len(g.recent) > 1 {
		byCall, byStart = slices.Clone(byCall), slices.Clone(byStart)
		facts.Sort(t, byCall, func(a, b *facts.Hold) int { return cmp.Compare(a.Call, b.Call) })
		facts.Sort(t, byStart, func(a, b *facts.Hold) int { return cmp.Compare(a.Start, b.Start) })
	}
	newest := g.newest
	i := 0
	for _, h := range facts.Each(t, byCall) {
		for ; i < len(byStart) && byStart[i].Start < h.Call; i++ {
			newest = newer(newest, byStart[i])
		}
		a := newest
		switch {
		case a != nil && h.Token.Less(a.Token):
			if t.Begun(h) && h.Mode != histories.ModeRead {
				v.Violate(func() verdict.Witness { return olderToken(t, a, h) })
			}
		case same[h] != nil && t.Begun(h):
			v.ViolateFrom(h.Start, func() verdict.Witness { return sameToken(t, same[h], h) })
		}
	}
}

// same returns, for each grant with the token of one that was answered before it, that one. Two
// readers may share a token.
func (g *grants) same() map[*facts.Hold]*facts.Hold {
	if len(g.recent) == 1 && (g.newest == nil || g.newest.Token != g.recent[0].Token) {
		return nil // most of a million locks
	}
	type holders struct{ first, writer *facts.Hold }
	of, same := make(map[histories.Token]holders, len(g.recent)), map[*facts.Hold]*facts.Hold{}
	add := func(h *facts.Hold) {
		before := of[h.Token]
		earlier := before.first
		if h.Mode == histories.ModeRead {
			earlier = before.writer
		} else {
			before.writer = cmp.Or(before.writer, h)
		}
		if earlier != nil {
			same[h] = earlier
		}
		before.first = cmp.Or(before.first, h)
		of[h.Token] = before
	}
	if g.newest != nil {
		add(g.newest)
	}
	for _, h := range g.recent {
		add(h)
	}
	return same
}

// forget keeps the grants that had not returned at before; no later acquire was invoked
// earlier. Of the others only the newest is kept: a token that is not newer than that one is
// too old.
func (g *grants) forget(before time.Duration) {
	g.recent = slices.DeleteFunc(g.recent, func(h *facts.Hold) bool {
		if h.Start >= before {
			return false
		}
		g.newest = newer(g.newest, h)
		return true
	})
	if len(g.recent) == 0 {
		g.recent = nil // there may be a million locks
	}
}

// newer returns the hold with the greater token. If they are equal it returns a, or b if only b
// is a writer's.
func newer(a, b *facts.Hold) *facts.Hold {
	if a == nil || a.Token.Less(b.Token) || a.Token == b.Token && a.Mode == histories.ModeRead && b.Mode != histories.ModeRead {
		return b
	}
	return a
}

func grant(t *facts.Trace, from, to time.Duration, what string, a, b verdict.Party, lock string) verdict.Witness {
	w := judge.NewWitness(t, lock, from, to, a, b)
	w.What = what
	return w
}

func olderToken(t *facts.Trace, a, b *facts.Hold) verdict.Witness {
	p, q := judge.HoldParty(a), judge.HoldParty(b)
	return grant(t, a.Start, b.Start, fmt.Sprintf("%v was granted lock %q at %s with token %s; %v asked for it later, at %s, and was granted it with the older token %s",
		p, a.Lock, verdict.At(a.Start), verdict.Token(a.Token), q, verdict.At(b.Call), verdict.Token(b.Token)), p, q, a.Lock)
}

func sameToken(t *facts.Trace, a, b *facts.Hold) verdict.Witness {
	p, q := judge.HoldParty(a), judge.HoldParty(b)
	return grant(t, min(a.Start, b.Start), max(a.Start, b.Start), fmt.Sprintf("%v and %v were granted lock %q with the same token %s, at %s and %s",
		p, q, a.Lock, verdict.Token(a.Token), verdict.At(a.Start), verdict.At(b.Start)), p, q, a.Lock)
}

func otherToken(t *facts.Trace, h *facts.Hold, re *facts.Op) verdict.Witness {
	p, q := judge.HoldParty(h), judge.OpParty(re)
	return grant(t, re.Call, re.Ret, fmt.Sprintf("%v holds lock %q with token %s and re-entered it at %s with token %s",
		q, h.Lock, verdict.Token(h.Token), verdict.At(re.Ret), verdict.Token(re.Token)), p, q, h.Lock)
}

func noToken(t *facts.Trace, h *facts.Hold) verdict.Witness {
	p := judge.HoldParty(h)
	w := judge.NewWitness(t, h.Lock, h.Call, h.Start, p)
	w.What = fmt.Sprintf("%v was granted lock %q at %s without a token", p, h.Lock, verdict.At(h.Start))
	return w
}
