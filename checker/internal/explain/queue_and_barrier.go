package explain

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/barrier"
	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/internal/queue"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// queueScene draws a departure as ending at the first grant further behind, before which it
// must have taken place; no step requires it later.
func queueScene(t *facts.Trace, w verdict.Witness, n int) *Scene {
	line := nearest(w, queue.QueueOf(t, w.Lock), n/3, func(q *queue.Contender) bool { return isParty(w, q.Op) }, func(q *queue.Contender) facts.Span {
		return facts.Span{From: q.Enter, To: q.Place.Time}
	})
	s := newScene(queue.QueueModel(queue.QueueState{}).Porcupine(), func(state any) string {
		q := state.(queue.QueueState)
		if q.Head >= q.Next {
			return "no contender in the queue"
		}
		says := fmt.Sprintf("%v at the head", judge.OpParty(line[q.Head].Op))
		if q.Granted {
			says += ", granted the lock"
		}
		return fmt.Sprintf("%s, %d behind", says, q.Next-q.Head-1)
	})
	gone := make([]time.Duration, len(line)+1)
	gone[len(line)] = facts.Forever
	for i, q := range slices.Backward(line) {
		gone[i] = gone[i+1]
		if q.Granted {
			gone[i] = min(gone[i], q.Op.Ret)
		}
	}
	for i, q := range line {
		who, lock := judge.OpParty(q.Op), short(w.Lock)
		s.add(q.Op.Process, queue.QueueStep{I: i, Kind: queue.Enter, Served: q.Granted}, q.Enter, q.Place.Time, histories.Line(q.Place.Event), fmt.Sprintf("%v queues for %s, place %s", who, lock, verdict.Token(q.Place.Token)))
		if q.Granted {
			s.add(q.Op.Process, queue.QueueStep{I: i, Kind: queue.Grant, Served: q.Granted}, q.Enter, q.Op.Ret, who.Line, fmt.Sprintf("%v is granted %s", who, lock))
		}
		s.add(q.Op.Process, queue.QueueStep{I: i, Kind: queue.Leave, Served: q.Granted}, q.Stays, max(q.Stays, gone[i+1]), 0, fmt.Sprintf("%v leaves the queue", who))
	}
	return s
}

// barrierScene prefers removes to other operations that are as near: without a remove that let
// a process pass, a legal history would look illegal.
func barrierScene(t *facts.Trace, w verdict.Witness, n int) *Scene {
	x := &barrier.Crossing{}
	for _, o := range t.Ops {
		if o.Lock == w.Lock {
			x.Add(o)
		}
	}
	ops := nearest(w, slices.Concat(x.Removes, x.Sets, x.Waits), n, func(o *facts.Op) bool { return isParty(w, o) }, func(o *facts.Op) facts.Span {
		switch o.Kind {
		case histories.Remove:
			return facts.Span{From: o.Call, To: barrier.Until(o)}
		case histories.Set:
			return facts.Span{From: o.Call, To: o.Call}
		}
		return facts.Span{From: o.Ret, To: o.Ret}
	})
	s := newScene(barrier.BarrierModel(barrier.BarrierState{}).Porcupine(), func(state any) string {
		b := state.(barrier.BarrierState)
		says := "down"
		if b.Up {
			says = "up"
		}
		if b.Pending > 0 {
			says += ", " + words.Count(b.Pending, "remove") + " without an answer to come"
		}
		return says
	})
	for _, o := range ops {
		who, lock := judge.OpParty(o), short(w.Lock)
		switch {
		case o.Kind == histories.Set:
			s.add(o.Process, barrier.PutUp, o.Call, o.Ret, who.Line, fmt.Sprintf("%v puts up %s", who, lock))
		case o.Kind == histories.Wait:
			s.add(o.Process, barrier.Passing, o.Call, o.Ret, who.Line, fmt.Sprintf("%v passes %s", who, lock))
		case o.OK():
			s.add(o.Process, barrier.TakeDown, o.Call, o.Ret, who.Line, fmt.Sprintf("%v removes %s", who, lock))
		default:
			s.add(o.Process, barrier.MayTake, o.Call, o.Call, who.Line, fmt.Sprintf("%v asks to remove %s, and is not answered", who, lock))
		}
	}
	return s
}
