package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// queueScene draws a departure up to the first grant further behind, before
// which it must have taken place; nothing asks for it later.
func queueScene(t *trace, w Witness, n int) *scene {
	line := nearest(w, t.queueOf(w.Lock), n/3, func(q *contender) bool { return w.isParty(q.op) }, func(q *contender) span {
		return span{q.enter, q.place.time}
	})
	s := newScene(queueModel(queueState{}).porcupine(), func(state any) string {
		q := state.(queueState)
		if q.head >= q.next {
			return "nobody in the queue"
		}
		says := fmt.Sprintf("%v at the head", line[q.head].op.party())
		if q.granted {
			says += ", granted the lock"
		}
		return fmt.Sprintf("%s, %d behind", says, q.next-q.head-1)
	})
	gone := make([]time.Duration, len(line)+1)
	gone[len(line)] = forever
	for i, q := range slices.Backward(line) {
		gone[i] = gone[i+1]
		if q.granted {
			gone[i] = min(gone[i], q.op.ret)
		}
	}
	for i, q := range line {
		who, lock := q.op.party(), short(w.Lock)
		s.add(q.op.process, queueStep{i, enter, q.granted}, q.enter, q.place.time, histories.Line(q.place.event), fmt.Sprintf("%v queues for %s, place %s", who, lock, token(q.place.token)))
		if q.granted {
			s.add(q.op.process, queueStep{i, grant, q.granted}, q.enter, q.op.ret, who.Line, fmt.Sprintf("%v is granted %s", who, lock))
		}
		s.add(q.op.process, queueStep{i, leave, q.granted}, q.stays, max(q.stays, gone[i+1]), 0, fmt.Sprintf("%v leaves the queue", who))
	}
	return s
}

// barrierScene draws removes before anything else that is as near: without one
// that let somebody pass, what is legal would look illegal.
func barrierScene(t *trace, w Witness, n int) *scene {
	x := &crossing{}
	for _, o := range t.ops {
		if o.lock == w.Lock {
			x.add(o)
		}
	}
	ops := nearest(w, slices.Concat(x.removes, x.sets, x.waits), n, func(o *op) bool { return w.isParty(o) }, func(o *op) span {
		switch o.kind {
		case histories.Remove:
			return span{o.call, until(o)}
		case histories.Set:
			return span{o.call, o.call}
		}
		return span{o.ret, o.ret}
	})
	s := newScene(barrierModel(barrierState{}).porcupine(), func(state any) string {
		b := state.(barrierState)
		says := "down"
		if b.up {
			says = "up"
		}
		if b.pending > 0 {
			says += ", " + words.Count(b.pending, "remove") + " without an answer to come"
		}
		return says
	})
	for _, o := range ops {
		who, lock := o.party(), short(w.Lock)
		switch {
		case o.kind == histories.Set:
			s.add(o.process, putUp, o.call, o.ret, who.Line, fmt.Sprintf("%v puts up %s", who, lock))
		case o.kind == histories.Wait:
			s.add(o.process, passing, o.call, o.ret, who.Line, fmt.Sprintf("%v passes %s", who, lock))
		case o.ok():
			s.add(o.process, takeDown, o.call, o.ret, who.Line, fmt.Sprintf("%v removes %s", who, lock))
		default:
			s.add(o.process, mayTake, o.call, o.call, who.Line, fmt.Sprintf("%v asks to remove %s, and is not answered", who, lock))
		}
	}
	return s
}
