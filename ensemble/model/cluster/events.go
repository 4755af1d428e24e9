package cluster

import (
	"container/heap"
	"time"
)

// events are what is to happen, by the instant, and at one instant in the order in which
// they were added.
type events struct {
	heap  eventHeap
	added int
}

type event struct {
	at     time.Duration
	number int
	what   func()
}

func (e *events) add(at time.Duration, what func()) {
	e.added++
	heap.Push(&e.heap, event{at, e.added, what})
}

// next is when the next of them is due.
func (e *events) next() (at time.Duration, ok bool) {
	if len(e.heap) == 0 {
		return never, false
	}
	return e.heap[0].at, true
}

// never is an instant that does not come.
const never = time.Duration(1<<63 - 1)

func (e *events) take() func() { return heap.Pop(&e.heap).(event).what }

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].number < h[j].number
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }
func (h *eventHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = event{}
	*h = old[:len(old)-1]
	return last
}
