package checker

import "github.com/zkverify/zkverify/histories"

// listener hears what a history says while it is read. Those that hear of some
// of it alone embed deaf.
type listener interface {
	// event hears of every event, before the trace takes it in.
	event(i int, e *histories.Event)
	// invoked, placed and completed hear of every operation that is invoked, has
	// told its place in a queue, and is answered, when the trace has taken it in. Of
	// an operation over several locks they hear part by part.
	invoked(o *op)
	placed(o *op)
	completed(o *op)
	// ended hears of every hold that ends.
	ended(h *hold)
}

// deaf is a listener that hears nothing.
type deaf struct{}

func (deaf) event(int, *histories.Event) {}
func (deaf) invoked(*op)                 {}
func (deaf) placed(*op)                  {}
func (deaf) completed(*op)               {}
func (deaf) ended(*hold)                 {}
