package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// turns judge the queue of a lock whose token is not its place in the queue: a
// semaphore, or a lock that is made of one. There the places have numbers, which
// may begin anew when an idle queue is deleted, and the tokens say who was
// granted before whom.
//
// So A was overtaken by B when A knew its place before B asked for the lock, and
// B was granted it in an earlier transaction: A stood in the queue from before B
// came until after B was served. Those that are served in one transaction are
// served together.
type turns struct {
	recent []*ticket     // granted; that knew their place since the oldest acquire under way was invoked
	newest *ticket       // of the others, the one granted last
	since  time.Duration // when that acquire was invoked: who asked before is judged, and newest need not have been ahead
}

// ticket is an acquire with a number.
type ticket struct {
	*op
	waited bool // it was found to have been served after others
	passed bool // and before one that was ahead of it
}

// turn puts an acquire with a place that is no token on record.
func (j *fairnessJudge) turn(t *trace, o *op) {
	if !o.ok() || o.token == (histories.Token{}) {
		if o.ok() {
			j.unjudged++
		}
		return
	}
	j.placed++
	j.unsearched++
	q := j.of(o.lock)
	q.turns.recent = append(q.turns.recent, &ticket{op: o})
}

func (k *ticket) known() time.Duration { return knownSince(k.op) }

// knownSince returns when o knew the place from which it was served.
func knownSince(o *op) time.Duration { return o.places[len(o.places)-1].time }

func (j *fairnessJudge) judgeTurns(t *trace, q *queueOf, before time.Duration) {
	u := &q.turns
	byCall := slices.Clone(u.recent)
	slices.SortStableFunc(byCall, func(a, b *ticket) int { return cmp.Compare(a.call, b.call) })
	byPlace := slices.Clone(u.recent)
	slices.SortStableFunc(byPlace, func(a, b *ticket) int { return cmp.Compare(a.known(), b.known()) })
	newest, i := u.newest, 0
	for _, b := range byCall {
		if b.call < u.since {
			continue
		}
		for ; i < len(byPlace) && byPlace[i].known() < b.call; i++ {
			newest = grantedLater(newest, byPlace[i])
		}
		if newest == nil {
			continue
		}
		if !b.waited && newest.ret > b.known() {
			b.waited = true
			j.waited++
		}
		if !b.passed && newest.token.Zxid > b.token.Zxid {
			b.passed = true
			a := newest
			j.overtook++
			j.v.violate(func() Witness { return t.passed(a.op, b.op) })
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
	if a == nil || b.token.Zxid > a.token.Zxid {
		return b
	}
	return a
}

func (t *trace) passed(a, b *op) Witness {
	p, q := a.party(), b.party()
	w := t.newWitness(a.lock, b.call, max(a.ret, b.ret), p, q)
	w.What = fmt.Sprintf("%v asked for lock %q at %s, when %v had its place in the queue since %s, and was served before it (tokens %s, %s)",
		q, w.Lock, at(b.call), p, at(knownSince(a)), token(b.token), token(a.token))
	return w
}
