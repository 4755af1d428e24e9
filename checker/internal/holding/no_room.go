package holding

import (
	"cmp"
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

// placed is a piece and the latest instant at which it can have been granted, as far as is
// known.
type placed struct {
	facts.Piece
	at     time.Duration
	beside []facts.Piece // the pieces held when it returned, if there was no room then and the witness is needed
	told   bool          // it was reported: there is no such instant
}

// Before orders pieces by their ends.
func (p *placed) Before(q *placed) bool { return p.To < q.To }

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
// With a size that does not change no piece is ever moved, and the engine makes one pass with
// the open pieces.
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
			all = append(all, &placed{Piece: p, at: p.From})
		}
	}
	facts.Sort(report.t, all, (*placed).compare)
	open := newOpenPermits(r.held)
	for i, n := 0, 0; i < len(all) && !report.t.Stopping(n); n++ {
		now := all[i].at
		open.reach(now)
		// Holds of no length come and go one by one, the others together: the last of them
		// finds all others.
		end := i + 1
		if all[i].To > now {
			for end < len(all) && all[end].at == now {
				end++
			}
		}
		together := all[i:end]
		if open.sum+sum(together) > sizes.most(now) && giveWay(together, func() []*placed { return open.left(now) }, sizes, report) {
			all, i = sorted(all, i, end)
			open = newOpenPermits(r.held, all[:i])
			continue
		}
		if all[i].To > now {
			open.add(together)
		}
		i = end
	}
	r.held = open.left(until)
	r.since = until
}

// openPermits is a set of pieces that are held, with the sum of their permits.
type openPermits struct {
	all  []*placed                // in order; some may have ended
	ends collection.Heap[*placed] // those that have not ended
	sum  int
}

func newOpenPermits(some ...[]*placed) *openPermits {
	o := new(openPermits)
	for _, s := range some {
		o.add(s)
	}
	return o
}

func (o *openPermits) add(some []*placed) {
	for _, p := range some {
		o.ends.Push(p)
	}
	o.all, o.sum = append(o.all, some...), o.sum+sum(some)
}

// reach removes the pieces that have ended by now from the sum.
func (o *openPermits) reach(now time.Duration) {
	for len(o.ends) > 0 && o.ends[0].To <= now {
		o.sum -= o.ends.Pop().Hold.Permits
	}
}

// left returns the pieces that are held at now, and drops the others.
func (o *openPermits) left(now time.Duration) []*placed {
	o.all = slices.DeleteFunc(o.all, func(p *placed) bool { return p.To <= now })
	return o.all
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

// compare orders pieces by place. In one instant the holds of no length come first, then the
// others in the order of their grants.
func (p *placed) compare(q *placed) int {
	granted := func(p *placed) int {
		if p.Hold.Acquire == nil {
			return 0
		}
		return p.Hold.Acquire.Done
	}
	lasts := func(p *placed) int {
		if p.To > p.at {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(p.at, q.at), lasts(p)-lasts(q), granted(p)-granted(q))
}

// giveWay moves pieces that found no room together to before the last drop of the size. If one
// cannot be moved, it is reported, and all are put back. giveWay reports whether any piece has
// moved.
func giveWay(together []*placed, open func() []*placed, sizes *Sizes, report shortages) (moved bool) {
	var stuck *placed
	for _, p := range together {
		if p.at == p.From && p.beside == nil && report.shows(p.From) {
			p.beside = besides(p, open(), together)
		}
		if _, ok := sizes.drop(p.Call, p.at); !ok && !p.told {
			stuck = p
		}
	}
	for _, p := range together {
		was := p.at
		switch {
		case p.told:
		case stuck == nil:
			p.at, _ = sizes.drop(p.Call, p.at)
		default:
			p.at, p.told = p.From, true
		}
		moved = moved || p.at != was
	}
	if stuck != nil {
		report.tell(shortage{stuck.Piece, stuck.beside})
	}
	return moved
}

// sorted puts the moved pieces, those from i to end, in their new places, and returns the first
// index at which the order may have changed.
func sorted(all []*placed, i, end int) ([]*placed, int) {
	moved := slices.Clone(all[i:end])
	all = slices.Delete(all, i, end)
	for _, p := range moved {
		j, _ := slices.BinarySearchFunc(all, p, (*placed).compare)
		all = slices.Insert(all, j, p)
		i = min(i, j)
	}
	for i > 0 && all[i-1].at == all[i].at {
		i--
	}
	return all, i
}

// besides returns the pieces that were held when p was granted.
func besides(p *placed, some ...[]*placed) []facts.Piece {
	out := []facts.Piece{}
	for _, q := range slices.Concat(some...) {
		if q != p {
			out = append(out, q.Piece)
		}
	}
	return out
}

func sum(some []*placed) int {
	n := 0
	for _, p := range some {
		n += p.Hold.Permits
	}
	return n
}
