package holding

import "github.com/zkverify/zkverify/checker/internal/search"

// Free is the state of a mutex that nobody holds.
const Free = -1

// MutexModel is the owner-aware mutex, one owner per piece of belief. An
// ownerless mutex, locked or not, would explain a real double hold away with
// the unanswered release of somebody else.
//
// It is HoldingsModel for a lock that one piece may hold, with a state that takes less
// than half of the time. What is held at a cut is one piece at most, unless what is before
// the cut is illegal.
func MutexModel(held []int) search.Model[int, HoldingsStep] {
	begin := Free
	if len(held) > 0 {
		begin = held[0]
	}
	return search.Model[int, HoldingsStep]{
		Begin: begin,
		Step: func(holder int, in HoldingsStep) (bool, int) {
			if in.Kind == Take {
				return holder == Free, in.Piece
			}
			return holder == in.Piece, Free
		},
		Hash: func(holder int) uint64 { return uint64(holder) * 0x9e3779b97f4a7c15 },
	}
}
