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

// handOvers judges how often a place in the queue was handed on within a client. A lock with a
// local hand-off grants it, after the contender that queued for it, to at most as many others
// as its size; then other clients have their turn.
//
// All grants of one place carry the transaction that made it, so that they can be counted by
// themselves: more of them than one plus the size are too many in any order. A place whose
// holder was told of its loss is gone: no process can be granted the lock by it any more.
type handOvers struct {
	places map[int64]*handedPlace // by transaction
	handed int                    // grants that were handed on
}

type handedPlace struct {
	grants int
	last   time.Duration // the latest answer of a grant
	lost   time.Duration // when a holder of it was told of its loss; 0: never
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

// grant counts a grant of a lock, and returns how often its place had been handed on by then,
// and when it had been lost, 0 if it had not.
func (j *handOvers) grant(o *facts.Op) (handed int, lost time.Duration) {
	p := j.of(o.Token)
	if p.grants++; p.grants > 1 {
		j.handed++
	}
	p.last = max(p.last, o.Ret)
	if p.lost > 0 && p.lost < o.Ret {
		lost = p.lost
	}
	return p.grants - 1, lost
}

// forget drops the places that no later grant can have: those older than a place that was
// granted the lock before an instant, before which all that is open was invoked.
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

// judgeHandOvers judges the grants of this window, in the order of their answers.
func (j *fairnessJudge) judgeHandOvers(t *facts.Trace, q *queueOf, lock *facts.LockInfo, before time.Duration) {
	if lock.Recipe != histories.Handoff {
		return
	}
	var granted []*facts.Op
	for _, o := range facts.Each(t, t.Ops) {
		if o.Info() == lock && o.Acquires() && o.OK() && o.Again == nil && t.Settled(o) && o.Token != (histories.Token{}) {
			granted = append(granted, o)
		}
	}
	slices.SortStableFunc(granted, func(a, b *facts.Op) int { return cmp.Compare(a.Ret, b.Ret) })
	for _, h := range lock.Holds() {
		if t.Over(h) && h.Why == facts.ByLoss && h.Token != (histories.Token{}) {
			q.handOvers.of(h.Token).lost = h.End
		}
	}
	for _, o := range granted {
		n, lost := q.handOvers.grant(o)
		switch {
		case lost > 0:
			j.handedTooOften++
			j.v.Violate(func() verdict.Witness { return handedAfterLoss(t, o, lost) })
		case n > t.Header.Locks[lock.Lock].Size:
			j.handedTooOften++
			j.v.Violate(func() verdict.Witness { return handedTooOften(t, o, n) })
		}
	}
	q.handOvers.forget(before)
}

func handedAfterLoss(t *facts.Trace, o *facts.Op, lost time.Duration) verdict.Witness {
	p := judge.OpParty(o)
	w := judge.NewWitness(t, o.Lock, lost, o.Ret, p)
	w.What = fmt.Sprintf("%v was granted lock %q at %s by the hand-over of place %s, which had been lost at %s", p, w.Lock, verdict.At(o.Ret), verdict.Token(histories.Token{Zxid: o.Token.Zxid}), verdict.At(lost))
	return w
}

func handedTooOften(t *facts.Trace, o *facts.Op, n int) verdict.Witness {
	p := judge.OpParty(o)
	w := judge.NewWitness(t, o.Lock, o.Call, o.Ret, p)
	w.What = fmt.Sprintf("%v was granted lock %q at %s by the %s hand-over of place %s, and after %d others have their turn", p, w.Lock, verdict.At(o.Ret), ordinal(n), verdict.Token(histories.Token{Zxid: o.Token.Zxid}), t.Header.Locks[o.Lock].Size)
	return w
}

// ordinal returns a number as a place in an order: 4th.
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
