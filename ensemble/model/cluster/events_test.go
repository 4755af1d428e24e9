package cluster

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Events of one instant happen in the order in which they were added.
func TestEventsHappenInTheirOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var e events
		type added struct {
			at     time.Duration
			number int
		}
		var left []added
		n, happened := 0, added{-1, -1}
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			if len(left) > 0 && rapid.IntRange(0, 2).Draw(t, "take") == 0 {
				slices.SortFunc(left, func(a, b added) int { return cmp.Or(cmp.Compare(a.at, b.at), a.number-b.number) })
				if at, ok := e.next(); !ok || at != left[0].at {
					t.Fatalf("the next is due at %v (%v), want %v", at, ok, left[0].at)
				}
				e.take()()
				if happened != left[0] {
					t.Fatalf("%v happened, want %v", happened, left[0])
				}
				left = left[1:]
				continue
			}
			a := added{time.Duration(rapid.IntRange(0, 9).Draw(t, "at")), n}
			n++
			left = append(left, a)
			e.add(a.at, func() { happened = a })
		}
		for range left {
			e.take()
		}
		if at, ok := e.next(); ok || at != never {
			t.Fatalf("something is left for %v", at)
		}
	})
}
