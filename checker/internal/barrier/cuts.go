package barrier

import (
	"cmp"
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
)

// barrierSegment is a segment of the history of a barrier.
type barrierSegment = judge.Segment[BarrierState, barrierStep]

// operations returns the crossing as operations of BarrierModel, by invocation.
func (x *Crossing) operations() []judge.Operation[barrierStep] {
	var out []judge.Operation[barrierStep]
	add := func(step barrierStep, o *facts.Op) {
		one := judge.Operation[barrierStep]{Input: step, Call: judge.Clock(int64(o.Call)), Ret: judge.Clock(int64(o.Ret))}
		if step == MayTake {
			one.Ret = one.Call
		}
		out = append(out, one)
	}
	for _, o := range x.Sets {
		add(PutUp, o)
	}
	for _, o := range x.Removes {
		if o.OK() {
			add(TakeDown, o)
		} else {
			add(MayTake, o)
		}
	}
	for _, o := range x.Waits {
		add(Passing, o)
	}
	slices.SortStableFunc(out, func(a, b judge.Operation[barrierStep]) int { return cmp.Compare(a.Call, b.Call) })
	return out
}

// cutBarrier cuts one barrier's operations into segments of at least size operations, which are
// all linearizable exactly when the whole is.
//
// A cut is made where no operation is open and the state is decided. All operations on the left
// then come before all on the right, so a linearization of the whole is one of each, one after
// the other. The state is set by the update that took effect last. That is one of those after
// whose return no other update was invoked; if all such updates are of one kind, the state is
// decided. After a remove without an answer there is no cut: whether it is still to take effect
// depends on the operations on the left.
//
// The history before the first segment, in state begin, has been cut off already. No cut is
// made after until: operations invoked later need not be known yet.
func cutBarrier(ops []judge.Operation[barrierStep], size int, begin BarrierState, until int64) []barrierSegment {
	segments := []barrierSegment{{Cut: begin}}
	var latest []judge.Operation[barrierStep] // updates that may have been the last
	end, pending := int64(-1), false
	for _, o := range ops {
		now := &segments[len(segments)-1]
		if len(now.Ops) >= size && o.Call > end && o.Call <= until && !pending {
			up := now.Cut.Up
			decided := true
			for i, u := range latest {
				decided = decided && (i == 0 || u.Input == latest[0].Input)
				up = u.Input == PutUp
			}
			if decided {
				segments = append(segments, barrierSegment{Cut: BarrierState{Up: up}})
				now, latest = &segments[len(segments)-1], nil
			}
		}
		now.Ops = append(now.Ops, o)
		end = max(end, o.Ret)
		switch o.Input {
		case MayTake:
			pending = true
		case PutUp, TakeDown:
			latest = slices.DeleteFunc(latest, func(u judge.Operation[barrierStep]) bool { return u.Ret < o.Call })
			latest = append(latest, o)
		}
	}
	return segments
}
