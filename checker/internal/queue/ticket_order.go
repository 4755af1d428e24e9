package queue

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// turns judge the queue of a lock whose token is not its place in the queue: a semaphore, or a
// lock that is made of one. There the places have numbers, which may begin anew when an idle
// queue is deleted, and the tokens order the grants.
//
// So B overtook A when A knew its place before B asked for the lock, and B was granted it in an
// earlier transaction: A stood in the queue from before B's call until after B was served.
// Contenders that are served in one transaction are served together.
type turns struct {
	recent []*ticket     // granted; those that knew their place since the oldest acquire under way was invoked
	newest *ticket       // of the others, the one granted last
	since  time.Duration // when that acquire was invoked: earlier acquires are judged, and newest need not have been ahead of them
}

// ticket is an acquire with a number.
type ticket struct {
	*facts.Op
	waited bool // it was found to have been served after others
	passed bool // it was served before one that was ahead of it
}

// keepTicket records an acquire whose place is not a token.
func (j *fairnessJudge) keepTicket(t *facts.Trace, o *facts.Op) {
	if !o.OK() || o.Token == (histories.Token{}) {
		if o.OK() {
			j.unjudged++
		}
		return
	}
	j.placed++
	j.unsearched++
	q := j.queue(o.Info())
	if q.turns == nil {
		q.turns = &turns{}
	}
	q.turns.recent = append(q.turns.recent, &ticket{Op: o})
}

func (k *ticket) known() time.Duration { return knownSince(k.Op) }

// knownSince returns when o knew the place from which it was served.
func knownSince(o *facts.Op) time.Duration { return o.Places[len(o.Places)-1].Time }

func (j *fairnessJudge) judgeTurns(t *facts.Trace, u *turns, before time.Duration) {
	byCall := slices.Clone(u.recent)
	slices.SortStableFunc(byCall, func(a, b *ticket) int { return cmp.Compare(a.Call, b.Call) })
	byPlace := slices.Clone(u.recent)
	slices.SortStableFunc(byPlace, func(a, b *ticket) int { return cmp.Compare(a.known(), b.known()) })
	newest, i := u.newest, 0
	for _, b := range byCall {
		if b.Call < u.since {
			continue
		}
		for ; i < len(byPlace) && byPlace[i].known() < b.Call; i++ {
			newest = grantedLater(newest, byPlace[i])
		}
		if newest == nil {
			continue
		}
		if !b.waited && newest.Ret > b.known() {
			b.waited = true
			j.waited++
		}
		if !b.passed && newest.Token.Zxid > b.Token.Zxid {
			b.passed = true
			a := newest
			j.overtook++
			j.v.Violate(func() verdict.Witness { return passed(t, a.Op, b.Op) })
		}
	}
	u.since = max(u.since, before)
	u.recent = slices.DeleteFunc(u.recent, func(o *ticket) bool {
		if o.known() >= before {
			return false
		}
		u.newest = grantedLater(u.newest, o)
		return true
	})
}

func grantedLater(a, b *ticket) *ticket {
	if a == nil || b.Token.Zxid > a.Token.Zxid {
		return b
	}
	return a
}

func passed(t *facts.Trace, a, b *facts.Op) verdict.Witness {
	p, q := judge.OpParty(a), judge.OpParty(b)
	w := judge.NewWitness(t, a.Lock, b.Call, max(a.Ret, b.Ret), p, q)
	w.What = fmt.Sprintf("%v asked for lock %q at %s, when %v had its place in the queue since %s, and was served before it (tokens %s, %s)",
		q, w.Lock, verdict.At(b.Call), p, verdict.At(knownSince(a)), verdict.Token(b.Token), verdict.Token(a.Token))
	return w
}
