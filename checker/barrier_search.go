package checker

import (
	"cmp"
	"slices"

	"github.com/anishathalye/porcupine"
)

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
func barrierModel(initial barrierState) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(state, input, _ any) (bool, any) {
			s := state.(barrierState)
			switch input.(barrierStep) {
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
		Hash: func(state any) uint64 {
			s := state.(barrierState)
			return (uint64(s.pending)<<1 + uint64(b2i(s.up))) * 0x9e3779b97f4a7c15
		},
	}
}

// barrierSegment is a stretch of a barrier's history that can be searched by
// itself.
type barrierSegment struct {
	state barrierState // at its start
	ops   []porcupine.Operation
}

// operations returns the crossing as operations of barrierModel, by invocation.
func (x *crossing) operations() []porcupine.Operation {
	var out []porcupine.Operation
	add := func(step barrierStep, o *op) {
		one := porcupine.Operation{Input: step, Call: int64(o.call), Return: int64(o.ret)}
		if step == mayTake {
			one.Return = one.Call
		}
		out = append(out, one)
	}
	for _, o := range x.sets {
		add(putUp, o)
	}
	for _, o := range x.removes {
		if o.ok() {
			add(takeDown, o)
		} else {
			add(mayTake, o)
		}
	}
	for _, o := range x.waits {
		add(passing, o)
	}
	slices.SortStableFunc(out, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	for i := range out {
		out[i].ClientId = i
	}
	return out
}

// cutBarrier turns one barrier's operations into segments of at least size of
// them, which are linearizable exactly when the whole is.
//
// A cut is made where nothing is open and the state is decided. All operations
// on the left come before all on the right then, so that a linearization of the
// whole is one of each, one behind the other. The state is that of the update
// that took effect last, and that is one which no other was invoked after: if
// all such are of one kind, it is decided. After a remove without an answer
// there is no cut: whether it is still to come depends on what is on the left.
func cutBarrier(ops []porcupine.Operation, size int) []barrierSegment {
	segments := []barrierSegment{{}}
	var latest []porcupine.Operation // updates that may have been the last
	end, pending := int64(-1), false
	for _, o := range ops {
		now := &segments[len(segments)-1]
		if len(now.ops) >= size && o.Call > end && !pending {
			up := now.state.up
			decided := true
			for i, u := range latest {
				decided = decided && (i == 0 || u.Input == latest[0].Input)
				up = u.Input == putUp
			}
			if decided {
				segments = append(segments, barrierSegment{state: barrierState{up: up}})
				now, latest = &segments[len(segments)-1], nil
			}
		}
		now.ops = append(now.ops, o)
		end = max(end, o.Return)
		switch o.Input {
		case mayTake:
			pending = true
		case putUp, takeDown:
			latest = slices.DeleteFunc(latest, func(u porcupine.Operation) bool { return u.Return < o.Call })
			latest = append(latest, o)
		}
	}
	return segments
}

// barrier searches one barrier, and stops at the first illegal segment.
func (s *search) barrier(x *crossing) answer {
	out := answer{result: porcupine.Ok}
	for _, seg := range cutBarrier(x.operations(), s.size) {
		if out.add(s.run(barrierModel(seg.state), seg.ops)); out.result == porcupine.Illegal {
			break
		}
	}
	return out
}
