package holding

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/internal/collection"
)

// shortage is a grant for which there was no room beside the permits held.
type shortage struct {
	granted facts.Piece
	held    []facts.Piece
}

// noRoom is the interval engine of semaphores. It reports each grant that had no room at any
// instant at which it can have taken effect. The pieces are sorted by start.
//
// Only the instants of the takes are in question. A give takes effect when it is called: that
// leaves the most room. The size can be taken to be, at each instant, the largest that can be
// in force. If the changes follow one another, each that raises it takes effect when it is
// called and each that lowers it when it returns; otherwise no order gives a larger size at any
// instant.
//
// A take can be moved later, to its return or to just before the next drop of the size. Takes
// in between then find less held, gives make room, and the moved take finds at most the permits
// that the last of those takes found together with it. So each piece is placed at its return
// first. When there is no room, it is moved to just before the latest drop, and so on, until
// everything fits or a piece would have to be granted before it was asked for. A move only adds
// to the permits held at an instant. So a piece that did not fit at a place will not fit there
// later. If there is a linearization, each piece is in it at its place here or before, and the
// final places are one.
//
// With a size that does not change no piece is ever moved.
func noRoom(pieces []facts.Piece, sizes *Sizes, report shortages) {
	p := newPlacing()
	p.settle(facts.Forever, pieces, sizes, report)
}

// shortages receives each shortage, and selects those whose held pieces are needed: that list
// can be as long as all the pieces.
type shortages struct {
	tell  func(shortage)
	shows func(from time.Duration) bool
	t     *facts.Trace // for early stopping; nil: the work is done to its end
}

// placing is the state of that engine at an instant: all pieces granted by then have their
// place.
type placing struct {
	since time.Duration
	held  []*placed // the pieces held at that instant
}

func newPlacing() placing { return placing{since: -1} }

// settle finds the places of the pieces granted after the instant, up to until.
func (r *placing) settle(until time.Duration, pieces []facts.Piece, sizes *Sizes, report shortages) {
	for _, p := range r.held {
		p.Piece = p.Now(pieces)
	}
	var all []*placed
	for _, p := range facts.Each(report.t, pieces) {
		if p.From > r.since && p.From <= until {
			all = append(all, &placed{Piece: p, at: p.From, failed: -1})
		}
	}
	facts.Sort(report.t, all, (*placed).compare)
	if !fit(r.held, all, sizes, report.t) {
		all = arrange(r.held, all, sizes, report)
	}
	r.held = slices.DeleteFunc(append(r.held, all...), func(p *placed) bool { return p.To <= until })
	r.since = until
}

// fit reports whether all pieces, sorted, have room at their places. Most do.
func fit(held, all []*placed, sizes *Sizes, t *facts.Trace) bool {
	var ends collection.Heap[*placed]
	sum := 0
	for _, p := range held {
		ends.Push(p)
		sum += p.Hold.Permits
	}
	for i, p := range facts.Each(t, all) {
		for len(ends) > 0 && ends[0].To <= p.at {
			sum -= ends.Pop().Hold.Permits
		}
		if p.lasts() == 1 {
			ends.Push(p)
			sum += p.Hold.Permits
		}
		switch next := i + 1; {
		case p.lasts() == 0 && sum+p.Hold.Permits > sizes.most(p.at):
			return false
		case p.lasts() == 1 && (next == len(all) || all[next].at > p.at) && sum > sizes.most(p.at):
			return false
		}
	}
	return true
}

// decided returns the last instant, not after until, that no acquire can be moved across: every
// acquire that returned after it, or has not returned yet (the first of which was asked for at
// asked), was asked for after the last drop of the size. So the pieces after that instant do
// not affect the places of those before it, and are affected only by those places.
func (r *placing) decided(until, asked time.Duration, pieces []facts.Piece, sizes *Sizes) time.Duration {
	for i := len(pieces); until > r.since; {
		for ; i > 0 && pieces[i-1].From > until; i-- {
			asked = min(asked, pieces[i-1].Call)
		}
		drop, ok := sizes.drop(r.since+1, until+1)
		if !ok || asked > drop {
			return until
		}
		until = drop - 1
	}
	return r.since
}
