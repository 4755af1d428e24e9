package checker

import (
	"math"

	"github.com/anishathalye/porcupine"
)

// model says in which orders operations may take effect: each is a step from one
// state to another.
type model[S, I any] struct {
	begin S
	step  func(state S, input I) (allowed bool, then S)
	equal func(a, b S) bool // nil if states can be compared with ==
	hash  func(S) uint64
}

// porcupine returns the model as Porcupine has it.
func (m model[S, I]) porcupine() porcupine.Model {
	out := porcupine.Model{
		Init: func() any { return m.begin },
		Step: func(state, input, _ any) (bool, any) {
			allowed, then := m.step(state.(S), input.(I))
			return allowed, then
		},
		Hash: func(state any) uint64 { return m.hash(state.(S)) },
	}
	if m.equal != nil {
		out.Equal = func(a, b any) bool { return m.equal(a.(S), b.(S)) }
	}
	return out
}

// operation takes effect at some time in [call, ret], on the clock of the search.
type operation[I any] struct {
	input     I
	call, ret int64
}

// never is the time of an operation of a search that has no bound.
const never = int64(math.MaxInt64)

// twice maps nanoseconds to the clock of the search, which has an instant
// between any two of them.
func twice(d int64) int64 {
	if d >= never/2 {
		return never
	}
	return 2 * d
}
