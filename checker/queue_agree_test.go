package checker

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zkverify/zkverify/checker/internal/drawn"
	"github.com/zkverify/zkverify/histories"
)

func TestTheEnginesAgreeOnQueues(t *testing.T) {
	drawn.Agree(t, histories.Recipe.Exclusive, func(t *rapid.T, a *drawn.Agreement, h *histories.History) {
		tr := newTrace(h)
		for _, lock := range tr.locksThat(histories.Recipe.Exclusive) {
			queue := tr.queueOf(lock)
			found := false
			sweepQueue(queue, func(_, _ *contender, _ bool) { found = true })
			a.Cuts += len(cutQueue(queue, 2, queueStart, forever)) - 1
			a.Same(t, h, lock+"'s queue", found, func(size int) bool {
				s := &searchCaps{ctx: context.Background(), left: time.Hour, memory: 1 << 30, size: size}
				var r segmentSearch[queueCut, queueStep]
				r.window(cutQueue(queue, s.size, queueStart, forever), true, searchQueue(s))
				return r.answer.illegal
			}, bruteQueue(queue), 0)
		}
	})
}

// bruteQueue tries a queue that one may leave from anywhere.
func bruteQueue(queue []*contender) []drawn.Op {
	var ops []drawn.Op
	n := len(queue)
	has := func(done, i int) bool { return done&(1<<i) != 0 }
	for i, q := range queue { // n entries
		ops = append(ops, drawn.Op{Call: q.enter, Ret: q.place.time, Do: func(done, x int) (int, bool) {
			return x, done&(1<<i-1) == 1<<i-1
		}})
	}
	for i, q := range queue { // n departures
		ops = append(ops, drawn.Op{Call: q.stays, Ret: forever, Do: func(done, x int) (int, bool) {
			return x, has(done, i) && (!q.granted || has(x, i))
		}})
	}
	for i, q := range queue {
		if !q.granted {
			continue
		}
		ops = append(ops, drawn.Op{Call: q.enter, Ret: q.op.ret, Do: func(done, x int) (int, bool) {
			ahead := 1<<i - 1
			return x | 1<<i, has(done, i) && !has(done, n+i) && done>>n&ahead == ahead
		}})
	}
	return ops
}
