package facts

import "github.com/zkverify/zkverify/histories"

// listener hears what a history says while it is read. Those that hear of some
// of it alone embed deaf.
type listener interface {
	// Event hears of every event, before the trace takes it in.
	Event(i int, e *histories.Event)
	// Invoked, placed and completed hear of every operation that is invoked, has
	// told its place in a queue, and is answered, when the trace has taken it in. Of
	// an operation over several locks they hear part by part.
	Invoked(o *Op)
	Placed(o *Op)
	Completed(o *Op)
	// Ended hears of every hold that ends.
	Ended(h *Hold)
}

// Deaf is a listener that hears nothing.
type Deaf struct{}

func (Deaf) Event(int, *histories.Event) {}
func (Deaf) Invoked(*Op)                 {}
func (Deaf) Placed(*Op)                  {}
func (Deaf) Completed(*Op)               {}
func (Deaf) Ended(*Hold)                 {}
