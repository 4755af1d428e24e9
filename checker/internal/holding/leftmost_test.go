package holding

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestLeftmostFindsTheFirstNegativeNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(-2, 9), 1, 20).Draw(t, "values")
		l := newLeftmost(values)
		for range 30 {
			if got, want := l.negative(), slices.IndexFunc(values, func(n int) bool { return n < 0 }); got != want {
				t.Fatalf("first negative of %v: %d, want %d", values, got, want)
			}
			from := rapid.IntRange(0, len(values)-1).Draw(t, "from")
			to, n := rapid.IntRange(from, len(values)).Draw(t, "to"), rapid.IntRange(-3, 3).Draw(t, "n")
			l.add(from, to, n)
			for i := from; i < to; i++ {
				values[i] += n
			}
			if got := l.at(from); got != values[from] {
				t.Fatalf("at %d of %v: %d", from, values, got)
			}
		}
	})
}
