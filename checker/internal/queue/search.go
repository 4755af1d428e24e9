package queue

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/search"
)

// queueSearch searches the queue of one lock as windows of the history show its
// contenders. It keeps those of the segment that is not yet complete.
type queueSearch struct {
	search.SegmentSearch[queueCut, QueueStep]
	queue []*Contender // by place
	at    queueCut     // the last cut; it counts in queue
	last  *Contender   // the last that had entered by then
}

func newQueueSearch() *queueSearch { return &queueSearch{at: queueStart} }

// window takes in the contenders of a window. Those to come ask for the lock not
// before an instant, so that nothing can be cut later.
func (q *queueSearch) window(s *search.Caps, t *facts.Trace, queue []*Contender, before time.Duration) {
	if q.Done() {
		q.queue = nil
		return
	}
	for _, k := range queue {
		if q.last != nil && byPlace(k, q.last) < 0 {
			// It entered the queue after the cut, yet before one that was in it
			// by then.
			q.Answer = search.Answer{Illegal: true, N: 2, From: min(k.Op.Call, q.last.Op.Call), To: max(k.Place.Time, q.last.Place.Time)}
			return
		}
	}
	q.queue = append(q.queue, queue...)
	slices.SortStableFunc(q.queue, byPlace)
	if t.Last {
		before = facts.Forever
	}
	segments := cutQueue(q.queue, s.Size, q.at, before)
	q.SegmentSearch.Window(segments, t.Last, searchQueue(s))
	if !t.Last {
		q.begin(segments[len(segments)-1].Cut)
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
func searchQueue(s *search.Caps) func(queueSegment) search.Answer {
	return func(seg queueSegment) search.Answer { return search.Run(s, QueueModel(seg.Cut.state()), seg.Ops) }
}
