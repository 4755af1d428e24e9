package facts

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The holds of a process are as a list of them would be, also for those who go through them
// while they end.
func TestHeldIsAListOfHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var held Held
		var want []*Hold
		for range rapid.IntRange(0, 120).Draw(t, "steps") {
			if len(want) == 0 || rapid.IntRange(0, 2).Draw(t, "step") > 0 {
				h := &Hold{Lock: fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "lock"))}
				held.add(h)
				want = append(want, h)
				continue
			}
			i := rapid.IntRange(0, len(want)-1).Draw(t, "which")
			held.remove(want[i])
			held.remove(want[i]) // again: it is not there
			want = slices.Delete(want, i, i+1)
		}
		same := func(what string, got, want []*Hold) {
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %d holds, want %d, or in another order", what, len(got), len(want))
			}
		}
		same("all", slices.Collect(held.All()), want)
		for lock := range 4 {
			name := fmt.Sprint(lock)
			same("of lock "+name, slices.Collect(held.Of(name)), slices.DeleteFunc(slices.Clone(want), func(h *Hold) bool { return h.Lock != name }))
		}
		var ended []*Hold
		for h := range held.All() {
			ended = append(ended, h)
			held.remove(h)
		}
		same("as they end", ended, want)
		same("after that", slices.Collect(held.All()), nil)
	})
}

// A hold that ends leaves a gap: the gaps are never many more than the holds.
func TestHeldForgetsThoseThatHaveEnded(t *testing.T) {
	var held Held
	stays := &Hold{Lock: "a"}
	held.add(stays)
	for range 10_000 {
		h := &Hold{Lock: "b"}
		held.add(h)
		held.remove(h)
	}
	if n := len(held.all.list); n > 64 {
		t.Errorf("%d places for one hold", n)
	}
	if len(held.of) != 1 {
		t.Errorf("%d locks, of which one is held", len(held.of))
	}
}
