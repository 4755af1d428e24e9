package queue

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
)

// queueSearch searches the queue of one lock in the windows of the history. It keeps the
// contenders of the segment that is not complete yet.
type queueSearch struct {
	judge.SegmentSearch[queueCut, QueueStep]
	queue []*Contender // by place
	at    queueCut     // the last cut; its counts are indices of queue
	last  *Contender   // the last contender that had entered by then
}

func newQueueSearch() *queueSearch { return &queueSearch{at: queueStart} }

// window takes in the contenders of a window. Later ones ask for the lock not before an
// instant, so no cut can be made after it.
func (q *queueSearch) window(s *judge.Caps, t *facts.Trace, queue []*Contender, before time.Duration) {
	if q.Done() {
		q.queue = nil
		return
	}
	for _, k := range queue {
		if q.last != nil && byPlace(k, q.last) < 0 {
			// It entered the queue after the cut, yet before one that was in it by
			// then.
			q.Answer = judge.Answer{Illegal: true, N: 2, From: min(k.Op.Call, q.last.Op.Call), To: max(k.Place.Time, q.last.Place.Time)}
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

// begin continues the search from a cut.
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

// searchQueue returns a function that searches a segment of a queue.
func searchQueue(s *judge.Caps) func(queueSegment) judge.Answer {
	return func(seg queueSegment) judge.Answer { return judge.Search(s, QueueModel(seg.Cut.state()), seg.Ops) }
}
