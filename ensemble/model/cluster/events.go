package cluster

import "time"

// events are the scheduled calls, by instant, and at one instant in the order in which
// they were added. They form a binary heap of its own: package container/heap would
// allocate for each event.
type events struct {
	heap  []event
	added int
}

type event struct {
	at     time.Duration
	number int
	what   func()
}

func (e *event) before(other *event) bool {
	return e.at < other.at || e.at == other.at && e.number < other.number
}

func (e *events) add(at time.Duration, what func()) {
	e.added++
	e.heap = append(e.heap, event{at, e.added, what})
	h := e.heap
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h[i].before(&h[parent]) {
			break
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

// next returns the instant of the next event.
func (e *events) next() (at time.Duration, ok bool) {
	if len(e.heap) == 0 {
		return never, false
	}
	return e.heap[0].at, true
}

// never is an instant that does not come.
const never = time.Duration(1<<63 - 1)

// take removes and returns the next event.
func (e *events) take() func() {
	h := e.heap
	what, last := h[0].what, len(h)-1
	h[0], h[last] = h[last], event{}
	h = h[:last]
	e.heap = h
	for i := 0; ; {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if h[child].before(&h[first]) {
				first = child
			}
		}
		if first == i {
			return what
		}
		h[i], h[first] = h[first], h[i]
		i = first
	}
}
