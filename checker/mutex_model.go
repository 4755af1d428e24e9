package checker

// free is the state of a mutex that nobody holds.
const free = -1

// mutexModel is the owner-aware mutex, one owner per piece of belief. An
// ownerless mutex, locked or not, would explain a real double hold away with
// the unanswered release of somebody else.
//
// It is holdingsModel for a lock that one piece may hold, with a state that takes a
// third of the time. What is held at a cut is one piece at most, unless what is before
// the cut is illegal.
func mutexModel(held []int) model[int, holdingsStep] {
	begin := free
	if len(held) > 0 {
		begin = held[0]
	}
	return model[int, holdingsStep]{
		begin: begin,
		step: func(holder int, in holdingsStep) (bool, int) {
			if in.kind == take {
				return holder == free, in.piece
			}
			return holder == in.piece, free
		},
		hash: func(holder int) uint64 { return uint64(holder) * 0x9e3779b97f4a7c15 },
	}
}
