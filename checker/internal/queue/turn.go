package queue

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
)

// turn is an acquire that was first in its queue.
type turn struct {
	*facts.Op
	told time.Duration // when it was told its place
	from time.Duration // since when it was first
	gave *facts.Hold   // the hold whose release made it first; nil if none did

	rests []*facts.Hold // releases whose sessions are not known to have lived on: see LivedOn
}

// turnOf returns the turn of a settled acquire, with the time since when it was first in its
// queue; nil if that is not known.
func (w *wakeUps) turnOf(o *facts.Op, users *users) *turn {
	if _, placed := lastPlace(o); !placed || o.Parts > 0 {
		return nil
	}
	permits := o.Recipe().HasPermits()
	if !permits && users.held(o) {
		return nil
	}
	mine := contender(w.t, o).Place // at its first report
	if sessionEnded(w.t, mine.Session, o) {
		return nil
	}
	turn := &turn{Op: o, told: mine.Time, from: mine.Time}
	by := -1 // the acquire that left then, by invocation, if it is among the users
	left := func(at time.Duration, gave *facts.Hold, invoke int) {
		if at > turn.from || at == turn.from && by >= 0 && invoke < by {
			turn.from, turn.gave, by = at, gave, invoke
		}
	}
	if of := w.locks.Of(o.Info()); of != nil {
		left(of.at, of.gave, -1)
	}
	q := place{o: o, place: mine, users: users}
	if turn.from == facts.Forever || q.isBehind(left) {
		return nil
	}
	had := w.leftBefore(&q, turn, left)
	if permits {
		if at, gave := w.room.since(o, turn.from, had, users.permits); at > turn.from {
			turn.from, turn.gave = at, gave
		}
	}
	if turn.from == facts.Forever {
		return nil
	}
	if h := turn.gave; h != nil && h.Released != turn.from {
		turn.gave = nil
	}
	return turn
}

// leftBefore calls left with the departures of users of a queue that are over, and returns what
// those users were granted. It skips some that had left before the turn.
func (w *wakeUps) leftBefore(q *place, turn *turn, left func(at time.Duration, gave *facts.Hold, invoke int)) (had []taken) {
	o, users, permits := q.o, q.users, q.o.Recipe().HasPermits()
	for _, x := range slices.Concat(users.over, users.fading) {
		if x == o || x.Reads() && o.Reads() {
			continue
		}
		if h := own(x); h != nil {
			if had = append(had, taken{h, w.leaves(x)}); !permits {
				left(w.leaves(x), h, x.Invoke)
			}
			continue
		}
		if !q.ahead(x) {
			left(w.leaves(x), nil, x.Invoke)
		} else if hasMoved(x) {
			left(x.Places[len(x.Places)-1].Time, nil, x.Invoke) // the place that it had before is gone
		}
	}
	if permits {
		left(users.granted, nil, -1) // the queue
	}
	for i, rested := range users.rested {
		for _, x := range slices.Backward(rested) {
			if i == 1 && o.Reads() || x.Hold.Released < turn.from {
				break
			}
			if users.out[x] {
				continue
			}
			if had = append(had, taken{x.Hold, x.Hold.Released}); !permits {
				left(x.Hold.Released, x.Hold, x.Invoke)
			}
		}
	}
	return had
}

// restsBefore returns the holds that were released before a turn, and whose nodes may still
// exist.
func (w *wakeUps) restsBefore(turn *turn, users *users) []*facts.Hold {
	var rests []*facts.Hold
	for _, x := range users.left() {
		h := own(x)
		if x == turn.Op || h == nil || x.Reads() && turn.Reads() {
			continue
		}
		if until := w.leaves(x); until <= turn.from && w.way.rests(x, until) && w.way.leaves(x, until) > turn.told {
			rests = append(rests, h)
		}
	}
	return rests
}
