package fencing

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// epochs judge the operations of one counter, which only increments change. Each of these
// violations proves that an increment was lost (or that the store is not a register), in any
// order in which concurrent operations can have taken effect:
//
//   - two writes of the same value succeed: both processes read the same number;
//   - a write that began after another write had returned has no greater value, or a read
//     that did has a smaller one: the counter went back;
//   - a write is not one above the value that its process read in the same hold;
//   - no operation can have written a value between two written ones.
//
// A write that was not answered may have taken effect at any time since its call.
//
// Time spans in which an excused write may have taken the counter back split the history into
// epochs. An epoch starts with any value of the counter, so only operations with no such span
// between or in them are compared.
type epochs struct {
	n       int       // the number of the epoch
	dropped int       // excused spans that are no longer listed, all before the epoch
	top     *facts.Op // the greatest write of those that are not in recent
	recent  []*facts.Op
	read    map[*facts.Hold]*facts.Op // the last read of a hold
	wrote   map[int64]*facts.Op       // the first write of each value, of those in recent
	chains  chains                    // the values written
	maybe   map[int64]bool            // values that an unanswered or excused write may have written
	closed  []chains                  // the chains of earlier epochs
}

func newEpochs() *epochs {
	e := &epochs{maybe: map[int64]bool{}}
	e.begin(0)
	return e
}

func (e *epochs) begin(n int) {
	e.n, e.top, e.recent = n, nil, nil
	e.read, e.wrote = map[*facts.Hold]*facts.Op{}, map[int64]*facts.Op{}
	if len(e.chains) > 1 {
		e.closed = append(e.closed, e.chains)
	}
	e.chains = nil
}

// judge judges operations, in the order of invocation. Later ones return at horizon or after
// it.
func (e *epochs) judge(t *facts.Trace, ops []*facts.Op, excused []facts.Span, horizon time.Duration, violate func(func() verdict.Witness)) {
	var same []*facts.Op // operations of the same epoch
	for _, o := range ops {
		// The spans that ended before o, and those that began before o ended: the numbers
		// are equal if o touches none.
		lo, _ := slices.BinarySearchFunc(excused, o.Call, func(w facts.Span, at time.Duration) int { return cmp.Compare(w.To, at) })
		hi, _ := slices.BinarySearchFunc(excused, o.Ret, func(w facts.Span, at time.Duration) int {
			if w.From <= at {
				return -1
			}
			return 1
		})
		if !o.OK() || lo != hi {
			if o.Kind == histories.Write && o.Result != histories.Fail {
				e.maybe[o.Value] = true
			}
			continue
		}
		if n := lo + e.dropped; n != e.n {
			e.compare(t, same, violate)
			same = nil
			e.begin(n)
		}
		same = append(same, o)
	}
	e.compare(t, same, violate)
	e.forget(horizon)
}

// compare judges operations of one epoch.
func (e *epochs) compare(t *facts.Trace, ops []*facts.Op, violate func(func() verdict.Witness)) {
	returned := slices.Clone(e.recent)
	for _, o := range ops {
		if o.Kind == histories.Write {
			returned = append(returned, o)
		}
	}
	slices.SortStableFunc(returned, func(a, b *facts.Op) int { return cmp.Compare(a.Ret, b.Ret) })
	top := e.top // the greatest write that had returned before
	for _, o := range ops {
		for ; len(returned) > 0 && returned[0].Ret < o.Call; returned = returned[1:] {
			top = greater(top, returned[0])
		}
		if o.Kind == histories.Read {
			if o.Hold != nil {
				e.read[o.Hold] = o
			}
			if w := top; w != nil && o.Value < w.Value {
				violate(func() verdict.Witness { return wentBack(t, w, o) })
			}
			continue
		}
		e.write(t, o, top, violate)
	}
}

func (e *epochs) write(t *facts.Trace, o, top *facts.Op, violate func(func() verdict.Witness)) {
	other := e.wrote[o.Value]
	if other == nil && e.top != nil && e.top.Value == o.Value {
		other = e.top
	}
	if other == nil {
		e.wrote[o.Value] = o
		e.recent = append(e.recent, o)
		e.chains = e.chains.add(o)
	}
	switch {
	case top != nil && o.Value < top.Value:
		violate(func() verdict.Witness { return wentBack(t, top, o) })
		return
	case other != nil:
		violate(func() verdict.Witness { return wroteTwice(t, other, o) })
		return
	}
	if o.Hold == nil {
		return
	}
	if r := e.read[o.Hold]; r != nil && r.Process == o.Process && o.Value != r.Value+1 {
		violate(func() verdict.Witness { return noIncrement(t, r, o) })
	}
	delete(e.read, o.Hold)
}

func greater(a, b *facts.Op) *facts.Op {
	if a == nil || b.Value > a.Value {
		return b
	}
	return a
}

// forget keeps the writes and reads that may be compared with an operation that returns at
// horizon or later, and was invoked not before the last known one.
func (e *epochs) forget(horizon time.Duration) {
	e.recent = slices.DeleteFunc(e.recent, func(w *facts.Op) bool {
		if w.Ret >= horizon {
			return false
		}
		e.top = greater(e.top, w)
		delete(e.wrote, w.Value)
		return true
	})
	for h := range e.read {
		if h.End < horizon {
			delete(e.read, h)
		}
	}
}

// close judges the gaps between the written values.
func (e *epochs) close(t *facts.Trace, violate func(func() verdict.Witness)) {
	for _, c := range append(e.closed, e.chains) {
		c.gaps(e.maybe, func(a, b *facts.Op) { violate(func() verdict.Witness { return gap(t, a, b, b.Value-1) }) })
	}
}

func counterWitness(t *facts.Trace, a, b *facts.Op, what string) verdict.Witness {
	w := judge.NewWitness(t, a.Lock, min(a.Call, b.Call), max(a.Ret, b.Ret), judge.OpParty(a), judge.OpParty(b))
	w.What = what
	return w
}

func wroteTwice(t *facts.Trace, a, b *facts.Op) verdict.Witness {
	return counterWitness(t, a, b, fmt.Sprintf("%v and %v both wrote %d to the %s counter of lock %q, at %s and %s: one increment is lost",
		judge.OpParty(a), judge.OpParty(b), a.Value, a.Store, a.Lock, verdict.At(a.Ret), verdict.At(b.Ret)))
}

func wentBack(t *facts.Trace, a, b *facts.Op) verdict.Witness {
	did := "wrote"
	if b.Kind == histories.Read {
		did = "read"
	}
	return counterWitness(t, a, b, fmt.Sprintf("%v wrote %d to the %s counter of lock %q at %s, then %v %s %d at %s: the counter went back",
		judge.OpParty(a), a.Value, a.Store, a.Lock, verdict.At(a.Ret), judge.OpParty(b), did, b.Value, verdict.At(b.Ret)))
}

func noIncrement(t *facts.Trace, r, w *facts.Op) verdict.Witness {
	return counterWitness(t, r, w, fmt.Sprintf("%v read %d from the %s counter of lock %q at %s and wrote %d at %s: that is no increment",
		judge.OpParty(w), r.Value, r.Store, r.Lock, verdict.At(r.Ret), w.Value, verdict.At(w.Ret)))
}

func gap(t *facts.Trace, a, b *facts.Op, missing int64) verdict.Witness {
	return counterWitness(t, a, b, fmt.Sprintf("%v wrote %d to the %s counter of lock %q at %s, but no operation wrote %d",
		judge.OpParty(b), b.Value, b.Store, b.Lock, verdict.At(b.Ret), missing))
}
