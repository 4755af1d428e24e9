package checker

import (
	"slices"
	"time"
)

// queueSearch searches the queue of one lock as windows of the history show its
// contenders. It keeps those of the segment that is not yet complete.
type queueSearch struct {
	segmentSearch[queueCut, queueStep]
	queue []*contender // by place
	at    queueCut     // the last cut; it counts in queue
	last  *contender   // the last that had entered by then
}

func newQueueSearch() queueSearch { return queueSearch{at: queueStart} }

// window takes in the contenders of a window. Those to come ask for the lock not
// before an instant, so that nothing can be cut later.
func (q *queueSearch) window(s *searchCaps, t *trace, queue []*contender, before time.Duration) {
	if q.done() {
		q.queue = nil
		return
	}
	for _, k := range queue {
		if q.last != nil && byPlace(k, q.last) < 0 {
			// It entered the queue after the cut, yet before one that was in it
			// by then.
			q.answer = answer{illegal: true, n: 2, from: min(k.op.call, q.last.op.call), to: max(k.place.time, q.last.place.time)}
			return
		}
	}
	q.queue = append(q.queue, queue...)
	slices.SortStableFunc(q.queue, byPlace)
	if t.last {
		before = forever
	}
	segments := cutQueue(q.queue, s.size, q.at, before)
	q.segmentSearch.window(segments, t.last, searchQueue(s))
	if !t.last {
		q.begin(segments[len(segments)-1].cut)
	}
}

// begin goes on from a cut.
func (q *queueSearch) begin(at queueCut) {
	q.at = at
	if at.entered > 0 {
		q.last = q.queue[at.entered-1]
	}
	if n := at.granted; n > 0 {
		q.queue = slices.Delete(q.queue, 0, n)
		q.at.entered -= n
		q.at.granted = 0
	}
}

// searchQueue returns what searches a segment of a queue.
func searchQueue(s *searchCaps) func(queueSegment) answer {
	return func(seg queueSegment) answer { return searchOf(s, queueModel(seg.cut.state()), seg.ops) }
}
