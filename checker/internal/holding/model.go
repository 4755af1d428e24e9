package holding

import (
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/search"
)

// Holdings is the state of a lock that several may hold.
type Holdings struct {
	Size int   // of a semaphore
	Held []int // pieces, in order of their numbers
}

// HoldingsStep is an operation of the model: piece takes or gives back, or the
// size changes.
type HoldingsStep struct {
	Kind  byte
	Piece int
	Size  int
}

const (
	Take   = 't'
	Give   = 'g'
	Resize = 's'
)

// HoldingsModel is a lock that several may hold, as admits says. Like the mutex
// it knows who holds: pieces give back only what they have.
//
// A change of the size takes nothing from anybody: it is always allowed, and
// matters to those who take after it.
func HoldingsModel(begin Holdings, admits func(h Holdings, piece int) bool) search.Model[Holdings, HoldingsStep] {
	return search.Model[Holdings, HoldingsStep]{
		Begin: begin,
		Step: func(s Holdings, in HoldingsStep) (bool, Holdings) {
			if in.Kind == Resize {
				return true, Holdings{in.Size, s.Held}
			}
			i, has := slices.BinarySearch(s.Held, in.Piece)
			if in.Kind == Give {
				if !has {
					return false, s
				}
				return true, Holdings{s.Size, slices.Delete(slices.Clone(s.Held), i, i+1)}
			}
			if has || !admits(s, in.Piece) {
				return false, s
			}
			return true, Holdings{s.Size, slices.Insert(slices.Clone(s.Held), i, in.Piece)}
		},
		Equal: func(a, b Holdings) bool { return a.Size == b.Size && slices.Equal(a.Held, b.Held) },
		Hash: func(s Holdings) uint64 {
			h := uint64(s.Size)
			for _, piece := range s.Held {
				h = (h ^ uint64(piece)) * 0x9e3779b97f4a7c15
			}
			return h
		},
	}
}

// BesideReaders lets a piece of a read/write lock in beside those that it need
// not exclude.
func BesideReaders(pieces []facts.Piece) func(Holdings, int) bool {
	return func(h Holdings, piece int) bool {
		return !slices.ContainsFunc(h.Held, func(other int) bool { return exclude(pieces[other].Hold, pieces[piece].Hold) })
	}
}

// BesidePermits lets a piece of a semaphore in when there is room.
func BesidePermits(pieces []facts.Piece) func(Holdings, int) bool {
	return func(h Holdings, piece int) bool {
		sum := pieces[piece].Hold.Permits
		for _, other := range h.Held {
			sum += pieces[other].Hold.Permits
		}
		return sum <= h.Size
	}
}
