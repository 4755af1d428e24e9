package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// handOvers judges how often a place in the queue was handed on within a client: a
// lock with a local hand-off grants it to as many as its size says after the one who
// queued for it, and then others have their turn.
//
// All grants of one place carry the transaction that made it, so that they can be
// counted whatever else is on record: more of them than one and the size are too
// many in any order. A place that somebody had, and was told to have lost, is not there
// any more: nobody can be granted the lock by it.
type handOvers struct {
	places map[int64]*handedPlace // by transaction
	handed int                    // grants that were handed on
}

type handedPlace struct {
	grants int
	last   time.Duration // that was answered
	lost   time.Duration // when one whom it was granted to was told of its loss; 0: never
}

func (j *handOvers) of(token histories.Token) *handedPlace {
	if j.places == nil {
		j.places = make(map[int64]*handedPlace)
	}
	p := j.places[token.Zxid]
	if p == nil {
		p = &handedPlace{}
		j.places[token.Zxid] = p
	}
	return p
}

// grant counts a grant of a lock, and returns how often its place had been handed on
// by then, and when it had been lost if it had.
func (j *handOvers) grant(o *op) (handed int, lost time.Duration) {
	p := j.of(o.token)
	if p.grants++; p.grants > 1 {
		j.handed++
	}
	p.last = max(p.last, o.ret)
	if p.lost > 0 && p.lost < o.ret {
		lost = p.lost
	}
	return p.grants - 1, lost
}

// forget drops the places of which no grant is to come: those older than one that
// was granted the lock before an instant, which is before all that is open.
func (j *handOvers) forget(before time.Duration) {
	var newest int64
	for zxid, p := range j.places {
		if p.last < before {
			newest = max(newest, zxid)
		}
	}
	for zxid, p := range j.places {
		if zxid < newest && p.last < before {
			delete(j.places, zxid)
		}
	}
}

// judgeHandOvers looks at the grants of this window, in the order of their answers.
func (j *fairnessJudge) judgeHandOvers(t *trace, q *queueOf, lock string, before time.Duration) {
	if t.recipe(lock) != histories.Handoff {
		return
	}
	var granted []*op
	for _, o := range t.ops {
		if o.lock == lock && o.acquires() && o.ok() && o.again == nil && t.settled(o) && o.token != (histories.Token{}) {
			granted = append(granted, o)
		}
	}
	slices.SortStableFunc(granted, func(a, b *op) int { return cmp.Compare(a.ret, b.ret) })
	for _, h := range t.byLock[lock] {
		if t.over(h) && h.why == byLoss && h.token != (histories.Token{}) {
			q.handOvers.of(h.token).lost = h.end
		}
	}
	for _, o := range granted {
		n, lost := q.handOvers.grant(o)
		switch {
		case lost > 0:
			j.handedTooOften++
			j.v.violate(func() Witness { return t.handedAfterLoss(o, lost) })
		case n > t.header.Locks[lock].Size:
			j.handedTooOften++
			j.v.violate(func() Witness { return t.handedTooOften(o, n) })
		}
	}
	q.handOvers.forget(before)
}

func (t *trace) handedAfterLoss(o *op, lost time.Duration) Witness {
	p := o.party()
	w := t.newWitness(o.lock, lost, o.ret, p)
	w.What = fmt.Sprintf("%v was granted lock %q at %s by the hand-over of place %s, which had been lost at %s", p, w.Lock, at(o.ret), token(histories.Token{Zxid: o.token.Zxid}), at(lost))
	return w
}

func (t *trace) handedTooOften(o *op, n int) Witness {
	p := o.party()
	w := t.newWitness(o.lock, o.call, o.ret, p)
	w.What = fmt.Sprintf("%v was granted lock %q at %s by the %s hand-over of place %s, and after %d others have their turn", p, w.Lock, at(o.ret), ordinal(n), token(histories.Token{Zxid: o.token.Zxid}), t.header.Locks[o.lock].Size)
	return w
}

// ordinal writes a number as a place in an order: 4th.
func ordinal(n int) string {
	suffix := "th"
	switch {
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		suffix = "st"
	case n%10 == 2:
		suffix = "nd"
	case n%10 == 3:
		suffix = "rd"
	}
	return fmt.Sprint(n) + suffix
}
