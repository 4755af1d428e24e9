package checker

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/zkverify/zkverify/checker/internal/drawn"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// TestLongHistoriesInWindows judges histories in which most locks are idle in most windows,
// with faults that begin and end meanwhile: in windows they get the same verdicts as in one
// piece.
func TestLongHistoriesInWindows(t *testing.T) {
	n, first := 59, rand.Uint64()
	if testing.Short() || drawn.Race {
		n = 5
	}
	t.Logf("seeds %d to %d", first, first+uint64(n)-1)
	seeds := []uint64{5689619811413854649} // a crash under a hold of another process of the owner, which is excused later
	for i := range n {
		seeds = append(seeds, first+uint64(i))
	}
	seen := map[verdict.Outcome]int{}
	for _, seed := range seeds {
		h := drawn.Long(seed)
		if err := histories.Validate(h); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		judge := func(window int, fixed bool) *Report {
			r, err := Check(context.Background(), h, WithEngine(Interval), func(c *check) { c.window, c.fixed = window, fixed })
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			return r
		}
		whole := judge(len(h.Events)+1, true)
		for _, size := range []int{1 + int(seed%7), 16 + int(seed%100)} {
			for _, fixed := range []bool{true, false} {
				sameLong(t, seed, size, judge(size, fixed), whole)
			}
		}
		for i := range whole.Verdicts {
			seen[whole.Verdicts[i].Outcome]++
		}
	}
	t.Log(seen)
	if seen[verdict.Holds] == 0 || seen[verdict.Violated] == 0 {
		t.Errorf("no guarantee held, or none was violated: %v", seen)
	}
}

func sameLong(t *testing.T, seed uint64, window int, r, whole *Report) {
	t.Helper()
	for i := range r.Verdicts {
		got, want := r.Verdicts[i], whole.Verdicts[i]
		if got.Guarantee == Fairness && got.Outcome == verdict.Violated && want.Outcome == verdict.Violated {
			continue // of the many contenders that one overtakes, some may have been forgotten
		}
		if !sameVerdict(got, want) {
			t.Errorf("seed %d, in windows of %d events:\n%+v\nat once:\n%+v", seed, window, got, want)
		}
	}
}
