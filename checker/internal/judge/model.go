package judge

import (
	"math"

	"github.com/anishathalye/porcupine"
)

// Model is a sequential specification: an operation is a step from one state to another, or is
// not allowed.
type Model[S, I any] struct {
	Begin S
	Step  func(state S, input I) (allowed bool, then S)
	Equal func(a, b S) bool // nil if states can be compared with ==
	Hash  func(S) uint64
}

// Porcupine returns the model in the form that Porcupine takes.
func (m Model[S, I]) Porcupine() porcupine.Model {
	out := porcupine.Model{
		Init: func() any { return m.Begin },
		Step: func(state, input, _ any) (bool, any) {
			allowed, then := m.Step(state.(S), input.(I))
			return allowed, then
		},
		Hash: func(state any) uint64 { return m.Hash(state.(S)) },
	}
	if m.Equal != nil {
		out.Equal = func(a, b any) bool { return m.Equal(a.(S), b.(S)) }
	}
	return out
}

// Operation takes effect at some time in [Call, Ret], on the clock of the search.
type Operation[I any] struct {
	Input     I
	Call, Ret int64
}

// Never is the return time of an operation that has no bound.
const Never = int64(math.MaxInt64)

// Clock maps nanoseconds to the clock of the search, which has an instant between any two of
// them.
func Clock(d int64) int64 {
	if d >= Never/2 {
		return Never
	}
	return 2 * d
}
