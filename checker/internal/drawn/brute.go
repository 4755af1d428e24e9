package drawn

import (
	"math"
	"time"
)

// Brute force tries every order. It shares no code with the engines and no model with
// Porcupine, and checks both where there are few operations.

// Forever is the time of an event that never happens.
const Forever = time.Duration(math.MaxInt64)

// MaxOps is the largest number of operations that brute force takes.
const MaxOps = 14

// Op may take effect at an instant in [Call, Ret]. Do reports whether it may when the
// operations in the set done have, and returns the new value of x.
type Op struct {
	Call, Ret time.Duration
	Do        func(done, x int) (int, bool)
}

// AnyOrder reports whether some order of ops is allowed, beginning with x. Operations that
// never return need not take effect.
func AnyOrder(ops []Op, x int) bool {
	type state struct{ done, x int }
	seen := map[state]bool{}
	var from func(s state) bool
	from = func(s state) bool {
		if seen[s] {
			return false
		}
		seen[s] = true
		first := Forever
		for i, o := range ops {
			if s.done&(1<<i) == 0 {
				first = min(first, o.Ret)
			}
		}
		if first == Forever {
			return true
		}
		for i, o := range ops {
			if s.done&(1<<i) != 0 || o.Call > first {
				continue
			}
			if x, ok := o.Do(s.done, s.x); ok && from(state{s.done | 1<<i, x}) {
				return true
			}
		}
		return false
	}
	return from(state{0, x})
}
