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
	had, stays := w.leftBefore(&q, turn, left)
	if stays {
		return nil
	}
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
// those users were granted. It skips some that had left before the turn. stays reports whether it
// found users that may be in the way until after the acquire of the turn was answered: there was
// no turn then, and the others need not be visited. Where many leave a node behind, the latest
// are the ones that stay, so it begins with them.
func (w *wakeUps) leftBefore(q *place, turn *turn, left func(at time.Duration, gave *facts.Hold, invoke int)) (had []taken, stays bool) {
	o, users, permits := q.o, q.users, q.o.Recipe().HasPermits()
	few := len(users.over)+len(users.fading) <= fewUsers
	spare := 0 // the permits that were left when the acquire was answered, by the users visited
	if permits {
		spare = w.room.of(o).least(o.Ret) - users.permits - o.Permits
	}
	for _, some := range [][]*facts.Op{users.fading, users.over} {
		for _, x := range slices.Backward(some) {
			h := own(x)
			switch {
			case x == o || x.Reads() && o.Reads():
				continue
			case h != nil && permits:
				at := w.leaves(x)
				if at > o.Ret {
					spare -= h.Permits
				}
				if spare < 0 && !few {
					return nil, true
				}
				had = append(had, taken{h, at})
				continue
			case h == nil && q.ahead(x):
				if hasMoved(x) {
					left(x.Places[len(x.Places)-1].Time, nil, x.Invoke) // the place that it had before is gone
				}
				continue
			}
			at := w.leaves(x)
			if at > o.Ret && !few {
				return nil, true
			}
			left(at, h, x.Invoke)
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
	return had, false
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
