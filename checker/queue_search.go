package checker

import (
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// queueStep is an operation of the queue model on contender i, counted in the
// order of places.
type queueStep struct {
	i      int
	kind   byte
	served bool // it was granted the lock, at some time
}

const (
	enter = 'e' // takes its place: places are taken in order
	grant = 'g' // is granted the lock: only at the head
	leave = 'l' // leaves the queue, served or not
)

// queueState is a queue: those from head to next-1 stand in it.
type queueState struct {
	next, head int
	granted    bool // the head was granted the lock
}

// queueModel is the FIFO queue. It has no lock in it: who stands at the head
// may be granted the lock whether or not somebody still holds it, so that a
// broken mutual exclusion is not reported twice.
//
// Contenders may leave from anywhere in the queue, but in the model they leave
// at its head only, and after their own grant if they have one. That loses
// nothing: a departure has no latest time and matters only to the next grant
// further behind, before which everybody ahead must have left; put off until
// just before that grant, all those departures can take place in the order of
// the queue. And it gains everything: what has happened is determined by the
// state alone, so that the search cannot explode, however many contenders leave
// at an unknown time.
func queueModel(initial queueState) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(state, input, _ any) (bool, any) {
			s, in := state.(queueState), input.(queueStep)
			switch in.kind {
			case enter:
				// Places that nobody reported do not count: i is the rank
				// among those that were.
				return in.i == s.next, queueState{s.next + 1, s.head, s.granted}
			case grant:
				return in.i == s.head && in.i < s.next && !s.granted, queueState{s.next, s.head, true}
			default:
				return in.i == s.head && in.i < s.next && s.granted == in.served, queueState{s.next, s.head + 1, false}
			}
		},
		Hash: func(state any) uint64 {
			s := state.(queueState)
			h := uint64(s.next)*0x9e3779b97f4a7c15 ^ uint64(s.head)*0xc2b2ae3d27d4eb4f
			if s.granted {
				h++
			}
			return h
		},
	}
}

// queueSearch searches the queue of one lock as windows of the history show its
// contenders. It keeps those of the segment that is not yet complete.
type queueSearch struct {
	answer answer
	queue  []*contender // by place
	at     queueCut     // the last cut; it counts in queue
	last   *contender   // the last that had entered by then
}

func newQueueSearch() queueSearch {
	return queueSearch{answer: answer{result: porcupine.Ok}, at: queueStart}
}

// window takes in the contenders of a window. Those to come ask for the lock not
// before an instant, so that nothing can be cut later.
func (q *queueSearch) window(s *search, t *trace, queue []*contender, before time.Duration) {
	if q.answer.result == porcupine.Illegal {
		q.queue = nil
		return
	}
	for _, k := range queue {
		if q.last != nil && byPlace(k, q.last) < 0 {
			// It entered the queue after the cut, yet before one that was in it
			// by then.
			q.answer = answer{result: porcupine.Illegal, n: 2, from: min(k.op.call, q.last.op.call), to: max(k.place.time, q.last.place.time)}
			return
		}
	}
	q.queue = append(q.queue, queue...)
	slices.SortStableFunc(q.queue, byPlace)
	if t.last {
		q.segments(s, cutQueue(q.queue, s.size, q.at, forever))
		return
	}
	segments := cutQueue(q.queue, s.size, q.at, before)
	q.at = segments[len(segments)-1].queueCut
	q.segments(s, segments[:len(segments)-1])
	if q.at.entered > 0 {
		q.last = q.queue[q.at.entered-1]
	}
	if n := q.at.granted; n > 0 {
		q.queue = slices.Delete(q.queue, 0, n)
		q.at.entered -= n
		q.at.granted = 0
	}
}

func (q *queueSearch) segments(s *search, segments []queueSegment) {
	for _, seg := range segments {
		q.answer.add(s.run(queueModel(seg.state()), seg.ops))
		if q.answer.result == porcupine.Illegal {
			return
		}
	}
}
