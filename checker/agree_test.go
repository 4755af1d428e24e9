package checker

import (
	"context"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkverify/zkverify/checker/internal/drawn"
	"github.com/zkverify/zkverify/checker/verdict"
)

// The checker judges every history: the engines do not disagree, nothing panics, and a second
// judgement is the same.
func TestEveryHistoryIsJudged(t *testing.T) {
	outcomes := map[string]map[verdict.Outcome]int{}
	drawn.Checks(t, 5_000, func(t *rapid.T) {
		h := drawn.History(t, drawn.Families[rapid.IntRange(0, len(drawn.Families)-1).Draw(t, "family")].Recipes...)
		r, err := Check(context.Background(), h)
		if err != nil {
			t.Fatalf("%v\n%s", err, drawn.Text(h))
		}
		sameInWindows(t, h, r, rapid.IntRange(1, 12).Draw(t, "window"))
		for i := range r.Verdicts {
			v := &r.Verdicts[i]
			if outcomes[v.Guarantee] == nil {
				outcomes[v.Guarantee] = map[verdict.Outcome]int{}
			}
			outcomes[v.Guarantee][v.Outcome]++
			if v.Outcome == verdict.Violated && (len(v.Witnesses) == 0 || v.Violations == 0) {
				t.Fatalf("%v, without a witness\n%s", v, drawn.Text(h))
			}
		}
	})
	t.Log(outcomes)
	for _, g := range []string{MutualExclusion, Fairness, ReadersAndWriters, Permits, Barriers} {
		if few := testing.Short() || drawn.Race; !few && (outcomes[g][verdict.Violated] == 0 || outcomes[g][verdict.Holds] == 0) {
			t.Errorf("%s was never violated, or never held: %v", g, outcomes[g])
		}
	}
}

// FuzzEngines runs until it is stopped. Minimizing inputs that are only interesting would take
// nearly all of the time: go test -fuzz Engines -fuzzminimizetime 10x
func FuzzEngines(f *testing.F) {
	r := rand.NewChaCha8([32]byte{1})
	for range 50 {
		seed := make([]byte, 4096) // long enough to draw a history from
		_, _ = r.Read(seed)        // it never fails
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		h := drawn.History(t, drawn.Families[rapid.IntRange(0, len(drawn.Families)-1).Draw(t, "family")].Recipes...)
		if _, err := Check(context.Background(), h); err != nil {
			t.Fatalf("%v\n%s", err, drawn.Text(h))
		}
	}))
}
