package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// fencingJudge is the service view: whatever clients believe, the grants of one lock
// carry tokens that strictly grow, consistently with real time. If one acquire
// returned before another was invoked, its token is the smaller one; no two
// outermost holds share a token; a re-entry carries the token of its hold.
//
// Two acquires that overlap in time may carry tokens in either order: a token is
// a place in the queue, and the one that was answered first need not have been
// granted first.
//
// What was asked for at the same time is held against the order of the holds, see
// turnOrder.
//
// Of a read/write lock the same goes for every writer, after whomever it comes.
// A reader has no need of a newer token: it writes nothing.
type fencingJudge struct {
	v         *Verdict
	all, bare int
	locks     map[string]*grants
}

// grants are those of one lock that later ones are held against.
type grants struct {
	newest *hold   // the greatest token of those that are not in recent
	recent []*hold // that had not returned when the oldest acquire under way was invoked
	turns  turnOrder
}

func newFencingJudge(_ *trace, v *Verdict) *fencingJudge {
	v.Expected = true
	return &fencingJudge{v: v, locks: map[string]*grants{}}
}

func (j *fencingJudge) window(_ *engines, t *trace) {
	all := t.holdsThat(histories.Recipe.Guards)
	granted := map[string][]*hold{}
	for _, h := range all {
		if t.begun(h) {
			j.all++
			if h.token == (histories.Token{}) {
				j.bare++
				j.v.violate(func() Witness { return t.noToken(h) })
			} else if !t.faults.handedBlindly(h) {
				granted[h.lock] = append(granted[h.lock], h)
			}
		}
		if !t.over(h) {
			continue
		}
		for _, re := range h.reentries {
			if re.token != h.token {
				j.v.violate(func() Witness { return t.otherToken(h, re) })
			}
		}
	}
	oldest := t.oldestAcquires()
	for _, lock := range t.locksThat(histories.Recipe.Guards) {
		g := j.locks[lock]
		if g == nil {
			g = &grants{}
			j.locks[lock] = g
		}
		g.recent = append(g.recent, granted[lock]...)
		g.order(j.v, t)
		if t.header.Promises.TellsLoss { // else a release that was answered proves nothing
			for _, h := range granted[lock] {
				g.turns.returned(h)
			}
			g.turns.settle(j.v, t)
		}
		g.forget(oldest(lock))
	}
}

func (j *fencingJudge) conclude(_ *engines, t *trace) {
	v := j.v
	v.Promised = t.header.Promises.Tokens
	v.count("grants", j.all)
	v.count("grants without a token", j.bare)
	if j.all == 0 {
		v.idle("nobody ever held a lock")
		return
	}
	v.conclude(fmt.Sprintf("the tokens of %s grow", words.Count(j.all, "grant")), words.Count(v.Violations, "grant")+" with a token that does not fence")
}

// order finds, for each grant, the greatest token among the grants that
// had returned before it was invoked: one pass over the grants by invocation
// with a second pointer over them by return. At least one of the two that a
// violation is of was granted in this window.
func (g *grants) order(v *Verdict, t *trace) {
	byCall := slices.Clone(g.recent)
	slices.SortStableFunc(byCall, func(a, b *hold) int { return cmp.Compare(a.call, b.call) })
	byStart := slices.Clone(g.recent)
	slices.SortStableFunc(byStart, func(a, b *hold) int { return cmp.Compare(a.start, b.start) })
	isNew := func(h *hold) bool { return t.begun(h) }

	first := map[histories.Token]*hold{}
	newest := g.newest
	i := 0
	for _, h := range byCall {
		for ; i < len(byStart) && byStart[i].start < h.call; i++ {
			newest = newer(newest, byStart[i])
		}
		other := first[h.token]
		if other == nil && newest != nil && newest.token == h.token {
			other = newest
		}
		if other == nil {
			first[h.token] = h
		}
		a := newest
		switch {
		case a != nil && h.token.Less(a.token):
			if isNew(h) && h.mode != histories.ModeRead {
				v.violate(func() Witness { return t.olderToken(a, h) })
			}
		case other != nil && (isNew(h) || isNew(other)) && (h.mode != histories.ModeRead || other.mode != histories.ModeRead):
			v.violate(func() Witness { return t.sameToken(other, h) })
		}
	}
}

// forget keeps those that had not returned at an instant, before which no
// acquire to come was invoked. Of the others the newest stands for all: a token
// that is not newer than it is too old.
func (g *grants) forget(before time.Duration) {
	g.recent = slices.DeleteFunc(g.recent, func(h *hold) bool {
		if h.start >= before {
			return false
		}
		g.newest = newer(g.newest, h)
		return true
	})
}

// newer returns the one with the greater token, a when they are equal.
func newer(a, b *hold) *hold {
	if a == nil || a.token.Less(b.token) {
		return b
	}
	return a
}

func (t *trace) grant(from, to time.Duration, what string, a, b Party, lock string) Witness {
	w := t.newWitness(lock, from, to, a, b)
	w.What = what
	return w
}

func (t *trace) olderToken(a, b *hold) Witness {
	p, q := a.party(), b.party()
	return t.grant(a.start, b.start, fmt.Sprintf("%v was granted lock %q at %s with token %s; %v asked for it later, at %s, and was granted it with the older token %s",
		p, a.lock, at(a.start), token(a.token), q, at(b.call), token(b.token)), p, q, a.lock)
}

func (t *trace) sameToken(a, b *hold) Witness {
	p, q := a.party(), b.party()
	return t.grant(min(a.start, b.start), max(a.start, b.start), fmt.Sprintf("%v and %v were granted lock %q with the same token %s, at %s and %s",
		p, q, a.lock, token(a.token), at(a.start), at(b.start)), p, q, a.lock)
}

func (t *trace) otherToken(h *hold, re *op) Witness {
	p, q := h.party(), re.party()
	return t.grant(re.call, re.ret, fmt.Sprintf("%v holds lock %q with token %s and re-entered it at %s with token %s",
		q, h.lock, token(h.token), at(re.ret), token(re.token)), p, q, h.lock)
}

func (t *trace) noToken(h *hold) Witness {
	p := h.party()
	w := t.newWitness(h.lock, h.call, h.start, p)
	w.What = fmt.Sprintf("%v was granted lock %q at %s without a token", p, h.lock, at(h.start))
	return w
}
