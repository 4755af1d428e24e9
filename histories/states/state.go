// Package states follows what the processes of a history do, and counts in which
// states faults meet them. A run feeds it while it records, the checker and the page
// of a run while they read: all three know the same of a process.
//
//   - A [State] is what a process does with the locks of one recipe.
//   - A [Tracker] takes events in, and knows the state of each process and what it
//     holds. It believes what is on record, and judges nothing.
//   - A [Coverage] is a tracker that knows the faults in force, and counts which
//     states they meet.
package states

import "github.com/zkverify/zkverify/histories"

// State is what a process is doing with a lock.
type State string

// The states in which a fault can meet a process.
const (
	Idle      State = "idle"      // it neither holds nor wants any lock
	Enqueuing State = "enqueuing" // its acquire has no place in the queue yet
	Waiting   State = "waiting"   // its acquire has a place, or it waits at a barrier
	Holding   State = "holding"   // it holds a lock, or is inside a double barrier
	Releasing State = "releasing" // its release, or its leave, is under way
)

// All lists them in the order of a lock's life.
func All() []State { return []State{Idle, Enqueuing, Waiting, Holding, Releasing} }

// Of returns the states in which processes can be with a recipe. If no acquire tells
// a place in a queue, those that wait cannot be told from those that enqueue.
func Of(r histories.Recipe, places bool) []State {
	switch {
	case r == histories.Barrier: // no process holds it
		return []State{Idle, Waiting}
	case r == histories.DoubleBarrier: // members that are inside hold it
		return []State{Idle, Waiting, Holding, Releasing}
	case !places:
		return []State{Idle, Enqueuing, Holding, Releasing}
	}
	return All()
}

// Doing is what a process does with the locks of one recipe.
type Doing struct {
	Recipe histories.Recipe
	State  State
}
