package facts

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The holds of a process behave as a list, also for callers that remove holds while they
// iterate.
func TestHeldIsAListOfHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var held Held
		var want []*Hold
		locks := make([]LockInfo, 4)
		for range rapid.IntRange(0, 120).Draw(t, "steps") {
			if len(want) == 0 || rapid.IntRange(0, 2).Draw(t, "step") > 0 {
				h := &Hold{info: &locks[rapid.IntRange(0, 3).Draw(t, "lock")]}
				held.add(h)
				want = append(want, h)
				continue
			}
			i := rapid.IntRange(0, len(want)-1).Draw(t, "which")
			held.remove(want[i])
			want = slices.Delete(want, i, i+1)
		}
		same := func(what string, got, want []*Hold) {
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %d holds, want %d, or in another order", what, len(got), len(want))
			}
		}
		same("all", slices.Collect(held.All()), want)
		for i := range locks {
			lock := &locks[i]
			same(fmt.Sprint("of lock ", i), slices.Collect(held.ofLock(lock)), slices.DeleteFunc(slices.Clone(want), func(h *Hold) bool { return h.info != lock }))
		}
		var ended []*Hold
		for h := range held.All() {
			ended = append(ended, h)
			held.remove(h)
		}
		same("as they end", ended, want)
		same("after that", slices.Collect(held.All()), nil)
		left := slices.ContainsFunc(locks, func(l LockInfo) bool { return l.held.by != nil || len(l.held.more) > 0 })
		if left || held.any() {
			t.Fatal("something is left")
		}
	})
}
