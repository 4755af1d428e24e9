package barrier

import "github.com/zkverify/zkverify/checker/internal/judge"

// barrierStep is an operation of the barrier model.
type barrierStep byte

const (
	PutUp    barrierStep = 's' // a set
	TakeDown barrierStep = 'r' // a remove that was answered
	MayTake  barrierStep = 'u' // a remove without an answer, from now on
	Passing  barrierStep = 'w' // a wait that passed: only while it is down
)

// BarrierState is the state of a barrier, with the number of removes without an answer that
// have not taken effect yet.
type BarrierState struct {
	Up      bool
	Pending int
}

// BarrierModel is a register of two values, up and down, of which only down is ever read.
//
// Once invoked, all removes without an answer are equivalent, and one that takes effect matters
// only to the next wait, so it can be put off until just before that. So the state counts them,
// and a wait uses one up if it must. As operations of their own, which may take effect at any
// time, they would make the search exponential.
func BarrierModel(begin BarrierState) judge.Model[BarrierState, barrierStep] {
	return judge.Model[BarrierState, barrierStep]{
		Begin: begin,
		Step: func(s BarrierState, in barrierStep) (bool, BarrierState) {
			switch in {
			case PutUp:
				s.Up = true
			case TakeDown:
				s.Up = false
			case MayTake:
				s.Pending++
			default:
				if s.Up {
					s.Pending--
				}
				s.Up = false
			}
			return s.Pending >= 0, s
		},
		Hash: func(s BarrierState) uint64 {
			h := uint64(s.Pending) << 1
			if s.Up {
				h++
			}
			return h * 0x9e3779b97f4a7c15
		},
	}
}
