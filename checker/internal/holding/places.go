package holding

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
)

// placed is a piece and the latest instant at which it can have been granted, as far as is
// known.
type placed struct {
	facts.Piece
	at     time.Duration
	told   bool   // it was reported: there is no such instant
	failed int    // the step in which it found no room when it returned
	moves  []move // the changes of its place
}

// Before orders pieces by their ends.
func (p *placed) Before(q *placed) bool { return p.To < q.To }

// move is a change of a place.
type move struct {
	step int
	from time.Duration
}

// places holds the pieces of a semaphore at their places. Each instant has two positions: one for
// the pieces of no length, which come and go one by one, and one for the others, which come
// together: the last of them finds all others.
type places struct {
	held     []*placed // before all others
	instants []time.Duration
	pieces   [][]*placed // by position, in the order of their grants
	movable  []int       // by position: how many of the pieces were not reported
	wanted   []int       // by position: what the room there is compared with
	room     *leftmost   // by position: the room without the pieces held, less what is wanted
	sizes    *Sizes
	report   shortages
	step     int // the number of times that pieces found no room
}

// nothing is wanted at a position without a piece that can be moved.
const nothing = math.MinInt32

// arrange moves pieces to before the drops of the size until all have room, or are reported, and
// returns them by place. They are sorted.
func arrange(held, all []*placed, sizes *Sizes, report shortages) []*placed {
	s := &places{held: held, sizes: sizes, report: report}
	s.instantsOf(all)
	n := 2 * len(s.instants)
	s.pieces, s.movable, s.wanted = make([][]*placed, n), make([]int, n), make([]int, n)
	taken := make([]int, n+1) // the differences
	for _, p := range held {
		taken[0] += p.Hold.Permits
		taken[s.end(p)] -= p.Hold.Permits
	}
	for i, end := 0, 0; i < len(all); i = end {
		at := s.position(all[i])
		for end = i; end < len(all) && s.position(all[end]) == at; end++ {
			if p := all[end]; at%2 == 1 {
				taken[at] += p.Hold.Permits
				taken[s.end(p)] -= p.Hold.Permits
			}
		}
		s.pieces[at], s.movable[at] = all[i:end:end], end-i
	}
	for at, sum := 0, 0; at < n; at++ {
		sum += taken[at]
		s.wanted[at] = s.wantedAt(at)
		taken[at] = sizes.most(s.instants[at/2]) - sum - s.wanted[at]
	}
	s.room = newLeftmost(taken[:n])
	for ; !report.t.Stopping(s.step); s.step++ {
		at := s.room.negative()
		if at < 0 {
			break
		}
		s.giveWay(at)
	}
	return slices.Concat(s.pieces...)
}

// instantsOf sets the instants at which pieces can have a place.
func (s *places) instantsOf(all []*placed) {
	if len(all) == 0 {
		return
	}
	first := all[0].Call
	for _, p := range all {
		s.instants = append(s.instants, p.From)
		first = min(first, p.Call)
	}
	steps := s.sizes.steps
	for i := sort.Search(len(steps), func(i int) bool { return steps[i].time >= first }); i < len(steps) && steps[i].time < all[len(all)-1].From; i++ {
		if steps[i].then < steps[i].at {
			s.instants = append(s.instants, steps[i].time)
		}
	}
	slices.Sort(s.instants)
	s.instants = slices.Compact(s.instants)
}

// position returns the position of a piece.
func (s *places) position(p *placed) int {
	i, _ := slices.BinarySearch(s.instants, p.at)
	return 2*i + p.lasts()
}

// lasts returns 1 for a piece that is held after its instant, else 0.
func (p *placed) lasts() int {
	if p.To > p.at {
		return 1
	}
	return 0
}

// end returns the first position at which a piece is no longer held.
func (s *places) end(p *placed) int {
	i, _ := slices.BinarySearch(s.instants, p.To)
	return 2 * i
}

// wantedAt returns what the room at a position is compared with: the permits of the largest piece
// there, of those that come one by one; those that come together are held already.
func (s *places) wantedAt(at int) int {
	most := nothing
	for _, p := range s.pieces[at] {
		if !p.told {
			most = max(most, p.Hold.Permits)
		}
	}
	if at%2 == 1 {
		most = min(most, 0)
	}
	return most
}

// giveWay moves pieces that found no room together to before the last drop of the size. If one
// cannot be moved, it is reported, and all are put back.
func (s *places) giveWay(at int) {
	var together []*placed // that can be moved
	room := s.room.at(at) + s.wanted[at]
	for _, p := range s.pieces[at] {
		if !p.told && (at%2 == 1 || len(together) == 0 && p.Hold.Permits > room) {
			together = append(together, p)
		}
	}
	var stuck *placed
	for _, p := range together {
		if p.at == p.From && p.failed < 0 {
			p.failed = s.step
		}
		if _, ok := s.sizes.drop(p.Call, p.at); !ok {
			stuck = p
		}
	}
	if stuck != nil {
		var beside []facts.Piece
		if s.report.shows(stuck.From) {
			beside = s.beside(stuck)
		}
		s.report.tell(shortage{stuck.Piece, beside})
	}
	for _, p := range together {
		to := p.From
		if p.told = stuck != nil; !p.told {
			to, _ = s.sizes.drop(p.Call, p.at)
		}
		s.move(p, to)
	}
	now := s.instants[at/2]
	s.pieces[at] = slices.DeleteFunc(s.pieces[at], func(p *placed) bool { return p.at != now })
	s.movable[at] -= len(together)
	s.compare(at)
	for _, p := range together {
		if p.at != now {
			s.insert(p)
		}
	}
}

// move changes the place of a piece, and the room in between.
func (s *places) move(p *placed, to time.Duration) {
	if to == p.at {
		return
	}
	p.moves = append(p.moves, move{s.step, p.at})
	from, end, n := s.position(p)|1, s.end(p), -p.Hold.Permits
	p.at = to
	until := s.position(p) | 1
	if from > until {
		from, until = until, from
	} else {
		n = -n
	}
	s.room.add(from, min(until, end), n)
}

// insert adds a piece at its place.
func (s *places) insert(p *placed) {
	at := s.position(p)
	i, _ := slices.BinarySearchFunc(s.pieces[at], p, (*placed).compare)
	s.pieces[at] = slices.Insert(s.pieces[at], i, p)
	if p.told {
		return
	}
	if s.movable[at]++; s.movable[at] == 1 {
		s.compare(at)
	}
}

// compare compares the room at a position with what is wanted there now.
func (s *places) compare(at int) {
	was := s.wanted[at]
	s.wanted[at] = s.wantedAt(at)
	s.room.add(at, at+1, was-s.wanted[at])
}

// beside returns the pieces that were held when a piece returned and found no room.
func (s *places) beside(p *placed) []facts.Piece {
	found := []facts.Piece{}
	for _, q := range s.held {
		if q.To > p.From {
			found = append(found, q.Piece)
		}
	}
	var then []*placed // at the places that they had
	for _, some := range s.pieces {
		for _, q := range some {
			q := q.before(p.failed)
			if q.To > p.From && (q.at < p.From || q.at == p.From && p.To > p.From) && q.Piece != p.Piece {
				then = append(then, q)
			}
		}
	}
	slices.SortFunc(then, (*placed).compare)
	for _, q := range then {
		found = append(found, q.Piece)
	}
	return found
}

// before returns the piece at the place that it had before a step.
func (p *placed) before(step int) *placed {
	i, _ := slices.BinarySearchFunc(p.moves, step, func(m move, step int) int { return cmp.Compare(m.step, step) })
	if i == len(p.moves) {
		return p
	}
	return &placed{Piece: p.Piece, at: p.moves[i].from}
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
	return cmp.Or(cmp.Compare(p.at, q.at), p.lasts()-q.lasts(), granted(p)-granted(q))
}
