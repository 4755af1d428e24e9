package holding

import "github.com/zkverify/zkverify/checker/internal/judge"

// Free is the state of a mutex without a holder.
const Free = -1

// MutexModel is the owner-aware mutex, with one owner per piece of belief. A model without
// owners, just locked or unlocked, would explain a real double hold by the unanswered release
// of another process.
//
// It is HoldingsModel for a lock with one holder, with a state that takes less than half of the
// time. At most one piece is held at a cut, unless the history before the cut is illegal.
func MutexModel(held []int) judge.Model[int, HoldingsStep] {
	begin := Free
	if len(held) > 0 {
		begin = held[0]
	}
	return judge.Model[int, HoldingsStep]{
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
