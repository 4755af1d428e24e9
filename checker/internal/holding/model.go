package holding

import (
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
)

// Holdings is the state of a lock that several processes may hold.
type Holdings struct {
	Size int   // for a semaphore
	Held []int // the pieces that hold the lock, in order of their numbers
}

// HoldingsStep is an operation of the model: a piece takes the lock or gives it back, or the
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

// HoldingsModel is a lock that several pieces may hold: admits decides whether one more may.
// Like the mutex model it knows its holders: a piece gives back only a lock that it has taken.
//
// A change of the size takes no permit from a holder. It is always allowed, and affects the
// takes that come after it.
func HoldingsModel(begin Holdings, admits func(h Holdings, piece int) bool) judge.Model[Holdings, HoldingsStep] {
	return judge.Model[Holdings, HoldingsStep]{
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

// BesideReaders admits a piece of a read/write lock if it excludes none of the holders.
func BesideReaders(pieces []facts.Piece) func(Holdings, int) bool {
	return func(h Holdings, piece int) bool {
		return !slices.ContainsFunc(h.Held, func(other int) bool { return exclude(pieces[other].Hold, pieces[piece].Hold) })
	}
}

// BesidePermits admits a piece of a semaphore if there is room for its permits.
func BesidePermits(pieces []facts.Piece) func(Holdings, int) bool {
	return func(h Holdings, piece int) bool {
		sum := pieces[piece].Hold.Permits
		for _, other := range h.Held {
			sum += pieces[other].Hold.Permits
		}
		return sum <= h.Size
	}
}
