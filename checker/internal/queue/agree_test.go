package queue

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zkverify/zkverify/checker/internal/drawn"
	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/histories"
)

func TestTheEnginesAgreeOnQueues(t *testing.T) {
	drawn.Agree(t, histories.Recipe.Exclusive, func(t *rapid.T, a *drawn.Agreement, h *histories.History) {
		tr := facts.Of(h)
		for lock := range tr.LocksThat(histories.Recipe.Exclusive) {
			queue := QueueOf(tr, lock.Lock)
			found := false
			sweepQueue(nil, queue, func(_, _ *Contender, _ bool) { found = true })
			a.Cuts += len(cutQueue(queue, 2, queueStart, facts.Forever)) - 1
			a.Same(t, h, lock.Lock+"'s queue", found, func(size int) bool {
				s := &judge.Caps{Ctx: context.Background(), Left: time.Hour, Memory: 1 << 30, Size: size}
				var r judge.SegmentSearch[queueCut, QueueStep]
				r.Window(cutQueue(queue, s.Size, queueStart, facts.Forever), true, searchQueue(s))
				return r.Answer.Illegal
			}, bruteQueue(queue), 0)
		}
	})
}

// bruteQueue returns the operations of a queue for brute force. A contender may leave it from
// any place.
func bruteQueue(queue []*Contender) []drawn.Op {
	var ops []drawn.Op
	n := len(queue)
	has := func(done, i int) bool { return done&(1<<i) != 0 }
	for i, q := range queue { // n entries
		ops = append(ops, drawn.Op{Call: q.Enter, Ret: q.Place.Time, Do: func(done, x int) (int, bool) {
			return x, done&(1<<i-1) == 1<<i-1
		}})
	}
	for i, q := range queue { // n departures
		ops = append(ops, drawn.Op{Call: q.Stays, Ret: facts.Forever, Do: func(done, x int) (int, bool) {
			return x, has(done, i) && (!q.Granted || has(x, i))
		}})
	}
	for i, q := range queue {
		if !q.Granted {
			continue
		}
		ops = append(ops, drawn.Op{Call: q.Enter, Ret: q.Op.Ret, Do: func(done, x int) (int, bool) {
			ahead := 1<<i - 1
			return x | 1<<i, has(done, i) && !has(done, n+i) && done>>n&ahead == ahead
		}})
	}
	return ops
}
