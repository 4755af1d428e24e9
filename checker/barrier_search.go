package checker

import (
	"cmp"
	"slices"
	"time"

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
			h := uint64(s.pending) << 1
			if s.up {
				h++
			}
			return h * 0x9e3779b97f4a7c15
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
		one := porcupine.Operation{Input: step, Call: twice(int64(o.call)), Return: twice(int64(o.ret))}
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
//
// What comes before the first segment, in state begin, has been cut off already.
// Nothing is cut after until: what was invoked later need not be known yet.
func cutBarrier(ops []porcupine.Operation, size int, begin barrierState, until int64) []barrierSegment {
	segments := []barrierSegment{{state: begin}}
	var latest []porcupine.Operation // updates that may have been the last
	end, pending := int64(-1), false
	for _, o := range ops {
		now := &segments[len(segments)-1]
		if len(now.ops) >= size && o.Call > end && o.Call <= until && !pending {
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

// barrierSearch searches one barrier as windows of the history show it. It keeps
// the operations of the segment that is not yet complete, and gives it up when it
// has become too large to be searched: after a remove that is never answered no cut
// comes.
type barrierSearch struct {
	answer answer
	state  barrierState // at the last cut
	ops    crossing     // since then
	gaveUp bool
}

func newBarrierSearch() barrierSearch { return barrierSearch{answer: answer{result: porcupine.Ok}} }

// window takes in what came to its end in a window. The oldest operation that is
// still open was invoked at open.
func (b *barrierSearch) window(s *search, t *trace, ops []*op, open time.Duration) {
	if b.gaveUp || b.answer.result == porcupine.Illegal {
		b.ops = crossing{}
		return
	}
	for _, o := range ops {
		b.ops.add(o)
	}
	segments := cutBarrier(b.ops.operations(), s.size, b.state, twice(int64(open)))
	if last := segments[len(segments)-1]; !t.last && len(last.ops) > 0 {
		// The last one goes on.
		b.state = last.state
		b.ops.from(last.ops[0].Call)
		if n := int64(len(last.ops)); n*n/8 > s.memory {
			b.answer.add(tooLong(n))
			b.gaveUp = true
		}
		segments = segments[:len(segments)-1]
	}
	b.answer.add(s.barrier(segments))
}

// from drops what was invoked before an instant of the search's clock.
func (x *crossing) from(call int64) {
	for _, ops := range []*[]*op{&x.sets, &x.removes, &x.waits} {
		*ops = slices.DeleteFunc(*ops, func(o *op) bool { return twice(int64(o.call)) < call })
	}
}

// barrier searches the segments of one barrier, and stops at the first illegal one.
func (s *search) barrier(segments []barrierSegment) answer {
	out := answer{result: porcupine.Ok}
	for _, seg := range segments {
		if out.add(s.run(barrierModel(seg.state), seg.ops)); out.result == porcupine.Illegal {
			break
		}
	}
	return out
}
