package checker

import (
	"cmp"
	"slices"
)

// barrierSegment is a segment of the history of a barrier.
type barrierSegment = segment[barrierState, barrierStep]

// operations returns the crossing as operations of barrierModel, by invocation.
func (x *crossing) operations() []operation[barrierStep] {
	var out []operation[barrierStep]
	add := func(step barrierStep, o *op) {
		one := operation[barrierStep]{step, twice(int64(o.call)), twice(int64(o.ret))}
		if step == mayTake {
			one.ret = one.call
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
	slices.SortStableFunc(out, func(a, b operation[barrierStep]) int { return cmp.Compare(a.call, b.call) })
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
func cutBarrier(ops []operation[barrierStep], size int, begin barrierState, until int64) []barrierSegment {
	segments := []barrierSegment{{cut: begin}}
	var latest []operation[barrierStep] // updates that may have been the last
	end, pending := int64(-1), false
	for _, o := range ops {
		now := &segments[len(segments)-1]
		if len(now.ops) >= size && o.call > end && o.call <= until && !pending {
			up := now.cut.up
			decided := true
			for i, u := range latest {
				decided = decided && (i == 0 || u.input == latest[0].input)
				up = u.input == putUp
			}
			if decided {
				segments = append(segments, barrierSegment{cut: barrierState{up: up}})
				now, latest = &segments[len(segments)-1], nil
			}
		}
		now.ops = append(now.ops, o)
		end = max(end, o.ret)
		switch o.input {
		case mayTake:
			pending = true
		case putUp, takeDown:
			latest = slices.DeleteFunc(latest, func(u operation[barrierStep]) bool { return u.ret < o.call })
			latest = append(latest, o)
		}
	}
	return segments
}
