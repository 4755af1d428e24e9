package barrier

import (
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zkverify/zkverify/checker/internal/drawn"
	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/histories"
)

func TestTheEnginesAgreeOnBarriers(t *testing.T) {
	drawn.Agree(t, facts.Is(histories.Barrier), func(t *rapid.T, a *drawn.Agreement, h *histories.History) {
		tr := facts.Of(h)
		for lock := range tr.LocksThat(facts.Is(histories.Barrier)) {
			x := &Crossing{}
			for _, o := range tr.Ops {
				if o.Info() == lock {
					x.Add(o)
				}
			}
			ops := x.operations()
			a.Cuts += len(cutBarrier(ops, 1, BarrierState{}, judge.Never)) - 1
			a.Same(t, h, lock.Lock, len(x.early()) > 0, func(size int) bool {
				s := &judge.Caps{Ctx: context.Background(), Left: time.Hour, Memory: 1 << 30, Size: size}
				var r judge.SegmentSearch[BarrierState, barrierStep]
				r.Window(cutBarrier(ops, s.Size, BarrierState{}, judge.Never), true, searchBarrier(s))
				return r.Answer.Illegal
			}, bruteBarrier(x), 0)
		}
	})
}

// bruteBarrier returns the operations of a barrier for brute force: x is 1 while it is up.
func bruteBarrier(x *Crossing) []drawn.Op {
	var ops []drawn.Op
	for _, o := range x.Sets {
		ops = append(ops, drawn.Op{Call: o.Call, Ret: o.Ret, Do: func(_, _ int) (int, bool) { return 1, true }})
	}
	for _, o := range x.Removes {
		ops = append(ops, drawn.Op{Call: o.Call, Ret: Until(o), Do: func(_, _ int) (int, bool) { return 0, true }})
	}
	for _, o := range x.Waits {
		ops = append(ops, drawn.Op{Call: o.Call, Ret: o.Ret, Do: func(_, up int) (int, bool) { return up, up == 0 }})
	}
	return ops
}

// early returns the demands of a whole history that cannot be met.
func (x *Crossing) early() []demand {
	var out []demand
	b := newBarrierSweep()
	b.take(slices.Concat(x.Sets, x.Removes, x.Waits))
	b.judge(facts.Forever, func(d demand, _ int) { out = append(out, d) })
	return out
}
