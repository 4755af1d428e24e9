package checker

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zkverify/zkverify/checker/internal/drawn"
	"github.com/zkverify/zkverify/histories"
)

func TestTheEnginesAgreeOnBarriers(t *testing.T) {
	drawn.Agree(t, is(histories.Barrier), func(t *rapid.T, a *drawn.Agreement, h *histories.History) {
		tr := newTrace(h)
		for _, lock := range tr.locksThat(is(histories.Barrier)) {
			x := &crossing{}
			for _, o := range tr.ops {
				if o.lock == lock {
					x.add(o)
				}
			}
			ops := x.operations()
			a.Cuts += len(cutBarrier(ops, 1, barrierState{}, never)) - 1
			a.Same(t, h, lock, len(x.early()) > 0, func(size int) bool {
				s := &searchCaps{ctx: context.Background(), left: time.Hour, memory: 1 << 30, size: size}
				var r segmentSearch[barrierState, barrierStep]
				r.window(cutBarrier(ops, s.size, barrierState{}, never), true, searchBarrier(s))
				return r.answer.illegal
			}, bruteBarrier(x), 0)
		}
	})
}

// bruteBarrier tries a barrier: x is 1 while it is up.
func bruteBarrier(x *crossing) []drawn.Op {
	var ops []drawn.Op
	for _, o := range x.sets {
		ops = append(ops, drawn.Op{Call: o.call, Ret: o.ret, Do: func(_, _ int) (int, bool) { return 1, true }})
	}
	for _, o := range x.removes {
		ops = append(ops, drawn.Op{Call: o.call, Ret: until(o), Do: func(_, _ int) (int, bool) { return 0, true }})
	}
	for _, o := range x.waits {
		ops = append(ops, drawn.Op{Call: o.call, Ret: o.ret, Do: func(_, up int) (int, bool) { return up, up == 0 }})
	}
	return ops
}
