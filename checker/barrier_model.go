package checker

// barrierStep is an operation of the barrier model.
type barrierStep byte

const (
	putUp    barrierStep = 's' // a set
	takeDown barrierStep = 'r' // a remove that was answered
	mayTake  barrierStep = 'u' // a remove without an answer, from now on
	passing  barrierStep = 'w' // a wait that passed: only while it is down
)

// barrierState is a barrier, and how many removes without an answer have not
// taken effect yet.
type barrierState struct {
	up      bool
	pending int
}

// barrierModel is a register of two values, up and down, of which only down is
// ever read.
//
// Removes without an answer are one as good as the other once they are invoked,
// and one that takes effect matters only to the next wait, so that it can be put
// off until just before that. So the state counts them, and a wait takes one if
// it must. As operations of their own that may come at any time they would make
// the search exponential.
func barrierModel(begin barrierState) model[barrierState, barrierStep] {
	return model[barrierState, barrierStep]{
		begin: begin,
		step: func(s barrierState, in barrierStep) (bool, barrierState) {
			switch in {
			case putUp:
				s.up = true
			case takeDown:
				s.up = false
			case mayTake:
				s.pending++
			default:
				if s.up {
					s.pending--
				}
				s.up = false
			}
			return s.pending >= 0, s
		},
		hash: func(s barrierState) uint64 {
			h := uint64(s.pending) << 1
			if s.up {
				h++
			}
			return h * 0x9e3779b97f4a7c15
		},
	}
}
