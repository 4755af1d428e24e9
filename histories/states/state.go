// Package states follows the states of the processes of a history, and counts the
// states in which faults meet them. A run uses it while it records, the checker and the
// page of a run while they read: all three see the same state of a process.
//
//   - A [State] is the state of a process with regard to the locks of one recipe.
//   - A [Tracker] follows events, and knows the state and the holds of each process.
//     It takes the recorded events as true, and judges nothing.
//   - A [Coverage] is a tracker that also follows the faults in force, and counts the
//     states that they meet.
package states

import "github.com/zkverify/zkverify/histories"

// State is the state of a process with regard to a lock.
type State string

// The states in which a fault can meet a process.
const (
	Idle      State = "idle"      // it neither holds nor wants any lock
	Enqueuing State = "enqueuing" // its acquire has no place in the queue yet
	Waiting   State = "waiting"   // its acquire has a place, or it waits at a barrier
	Holding   State = "holding"   // it holds a lock, or is inside a double barrier
	Releasing State = "releasing" // its release, or its leave, is under way
)

// All returns all states, in the order of a lock's life.
func All() []State { return []State{Idle, Enqueuing, Waiting, Holding, Releasing} }

// Of returns the states in which processes can be with a recipe. If no acquire reports
// its place in a queue, waiting and enqueuing processes cannot be told apart.
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

// Doing is the state of a process with regard to the locks of one recipe.
type Doing struct {
	Recipe histories.Recipe
	State  State
}
