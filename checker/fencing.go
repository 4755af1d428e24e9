package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// fencing is the service view: whatever clients believe, the grants of one lock
// carry tokens that strictly grow, consistently with real time. If one acquire
// returned before another was invoked, its token is the smaller one; no two
// outermost holds share a token; a re-entry carries the token of its hold.
//
// Two acquires that overlap in time may carry tokens in either order: a token is
// a place in the queue, and the one that was answered first need not have been
// granted first.
func (c *check) fencing(t *trace) Verdict {
	v := Verdict{Guarantee: Fencing, Promised: t.h.Header.Promises.Tokens, Expected: true}
	byLock := t.holdsByLock()
	bare, all := 0, t.exclusiveHolds()
	for _, h := range all {
		if h.token == (histories.Token{}) {
			bare++
			v.violate(func() Witness { return t.noToken(h) })
		}
		for _, re := range h.reentries {
			if re.token != h.token {
				v.violate(func() Witness { return t.otherToken(h, re) })
			}
		}
	}
	for _, lock := range t.exclusive() {
		t.tokenOrder(&v, byLock[lock])
	}
	v.count("grants", len(all))
	v.count("grants without a token", bare)
	if len(all) == 0 {
		v.idle("nobody ever held a lock")
		return v
	}
	v.conclude(fmt.Sprintf("the tokens of %s grow", plural(len(all), "grant")), plural(v.Violations, "grant")+" with a token that does not fence")
	return v
}

// tokenOrder finds, for each grant, the greatest token among the grants that
// had returned before it was invoked: one pass over the grants by invocation
// with a second pointer over them by return.
func (t *trace) tokenOrder(v *Verdict, holds []*hold) {
	tokened := slices.DeleteFunc(slices.Clone(holds), func(h *hold) bool { return h.token == (histories.Token{}) })
	byCall := slices.Clone(tokened)
	slices.SortStableFunc(byCall, func(a, b *hold) int { return cmp.Compare(a.call, b.call) })
	byStart := slices.Clone(tokened)
	slices.SortStableFunc(byStart, func(a, b *hold) int { return cmp.Compare(a.start, b.start) })

	first := map[histories.Token]*hold{}
	var newest *hold
	i := 0
	for _, h := range byCall {
		for ; i < len(byStart) && byStart[i].start < h.call; i++ {
			if newest == nil || less(newest.token, byStart[i].token) {
				newest = byStart[i]
			}
		}
		if other := first[h.token]; other != nil {
			v.violate(func() Witness { return t.sameToken(other, h) })
			continue
		}
		first[h.token] = h
		if newest != nil && less(h.token, newest.token) {
			v.violate(func() Witness { return t.olderToken(newest, h) })
		}
	}
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
