package checker

import (
	"slices"

	"github.com/anishathalye/porcupine"
)

// holdings is the state of a lock that several may hold.
type holdings struct {
	size int   // of a semaphore
	held []int // pieces, in order of their numbers
}

// holdingsStep is an operation of the model: piece takes or gives back, or the
// size changes.
type holdingsStep struct {
	kind  byte
	piece int
	size  int
}

const (
	take   = 't'
	give   = 'g'
	resize = 's'
)

// holdingsModel is a lock that several may hold, as admits says. Like the mutex
// it knows who holds: pieces give back only what they have.
//
// A change of the size takes nothing from anybody: it is always allowed, and
// matters to those who take after it.
func holdingsModel(initial holdings, admits func(h holdings, piece int) bool) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(state, input, _ any) (bool, any) {
			s, in := state.(holdings), input.(holdingsStep)
			if in.kind == resize {
				return true, holdings{in.size, s.held}
			}
			i, has := slices.BinarySearch(s.held, in.piece)
			if in.kind == give {
				if !has {
					return false, s
				}
				return true, holdings{s.size, slices.Delete(slices.Clone(s.held), i, i+1)}
			}
			if has || !admits(s, in.piece) {
				return false, s
			}
			return true, holdings{s.size, slices.Insert(slices.Clone(s.held), i, in.piece)}
		},
		Equal: func(a, b any) bool {
			s, o := a.(holdings), b.(holdings)
			return s.size == o.size && slices.Equal(s.held, o.held)
		},
		Hash: func(state any) uint64 {
			s := state.(holdings)
			h := uint64(s.size)
			for _, piece := range s.held {
				h = (h ^ uint64(piece)) * 0x9e3779b97f4a7c15
			}
			return h
		},
	}
}

// besideReaders lets a piece of a read/write lock in beside those that it need
// not exclude.
func besideReaders(pieces []piece) func(holdings, int) bool {
	return func(h holdings, piece int) bool {
		return !slices.ContainsFunc(h.held, func(other int) bool { return exclude(pieces[other].hold, pieces[piece].hold) })
	}
}

// permits searches the pieces of one semaphore in the same way.
func (s *search) permits(pieces []piece, sizes *sizes) answer {
	return s.holdings(cutHoldings(pieces, sizes, s.size, beginning(sizes), forever, forever), besidePermits(pieces))
}

// besidePermits lets a piece of a semaphore in when there is room.
func besidePermits(pieces []piece) func(holdings, int) bool {
	return func(h holdings, piece int) bool {
		sum := pieces[piece].hold.permits
		for _, other := range h.held {
			sum += pieces[other].hold.permits
		}
		return sum <= h.size
	}
}

func (s *search) holdings(segments []holdingsSegment, admits func(holdings, int) bool) answer {
	out := answer{result: porcupine.Ok}
	for _, seg := range segments {
		if out.add(s.run(holdingsModel(seg.state, admits), seg.ops)); out.result == porcupine.Illegal {
			break
		}
	}
	return out
}
