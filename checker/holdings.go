package checker

import "slices"

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
func holdingsModel(begin holdings, admits func(h holdings, piece int) bool) model[holdings, holdingsStep] {
	return model[holdings, holdingsStep]{
		begin: begin,
		step: func(s holdings, in holdingsStep) (bool, holdings) {
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
		equal: func(a, b holdings) bool { return a.size == b.size && slices.Equal(a.held, b.held) },
		hash: func(s holdings) uint64 {
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
