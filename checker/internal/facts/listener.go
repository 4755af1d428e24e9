package facts

import "github.com/zkverify/zkverify/histories"

// listener is called with the events and facts of a history while it is read. A listener that
// needs only some of the methods embeds Deaf.
type listener interface {
	// Event is called with every event, before the trace takes it in.
	Event(i int, e *histories.Event)
	// Invoked, Placed and Completed are called when an operation is invoked, reports its
	// place in a queue, and is answered, after the trace has taken that in. For an
	// operation over several locks they are called once for each lock.
	Invoked(o *Op)
	Placed(o *Op)
	Completed(o *Op)
	// Began is called with every hold that begins, before Completed of its acquire.
	Began(h *Hold)
	// Ended is called with every hold that ends.
	Ended(h *Hold)
}

// Deaf is a listener whose methods do nothing.
type Deaf struct{}

func (Deaf) Event(int, *histories.Event) {}
func (Deaf) Invoked(*Op)                 {}
func (Deaf) Placed(*Op)                  {}
func (Deaf) Completed(*Op)               {}
func (Deaf) Began(*Hold)                 {}
func (Deaf) Ended(*Hold)                 {}
