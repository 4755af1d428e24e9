package checker

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkverify/zkverify/checker/internal/drawn"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// windowed makes windows of that many events, and makes Porcupine cut wherever it can.
func windowed(events int) Option {
	return func(c *check) { c.window, c.fixed, c.engines.Caps.Size = events, true, 1 }
}

// inWindows checks that a history gets the same report in windows of a few events as in one
// piece.
func inWindows(t testing.TB, h *histories.History, whole *Report, opts ...Option) {
	t.Helper()
	for _, n := range []int{1, 2, 3, 7} {
		r, err := Check(context.Background(), h, append(opts, windowed(n))...)
		if err != nil {
			t.Errorf("in windows of %d events: %v", n, err)
			continue
		}
		for i := range r.Verdicts {
			got, want := &r.Verdicts[i], whole.Verdicts[i]
			if got.Guarantee == Fairness && got.Outcome == verdict.Violated && want.Outcome == verdict.Violated {
				// Of the many contenders that one overtakes, some may have been
				// forgotten.
				*got = want
			}
			if !reflect.DeepEqual(*got, want) {
				t.Errorf("in windows of %d events:\n%+v\nas a whole:\n%+v", n, *got, want)
			}
		}
		if !reflect.DeepEqual(r, whole) {
			t.Errorf("in windows of %d events the reports differ", n)
		}
	}
}

// toTheLetter holds the guarantees for which windows give the same figures and witnesses as the
// whole history, for every drawn history.
var toTheLetter = map[string]bool{Permits: true, AllOrNothing: true, Revocation: true, Barriers: true}

func sameVerdict(a, b verdict.Verdict) bool {
	if n, _ := a.Figure("semaphores whose changes overlap"); n > 0 {
		a.Witnesses, b.Witnesses = nil, nil // the witnesses depend on the cuts
	}
	sorted := func(all []verdict.Witness) []verdict.Witness { // witnesses of one instant may come in any order
		return slices.SortedFunc(slices.Values(all), func(a, b verdict.Witness) int {
			return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.What, b.What), cmp.Compare(fmt.Sprintf("%+v", a.Parties), fmt.Sprintf("%+v", b.Parties)))
		})
	}
	if a.Violations > len(a.Witnesses) { // some witnesses of the last instant are left out
		a.Witnesses, b.Witnesses = nil, nil
	}
	a.Witnesses, b.Witnesses = sorted(a.Witnesses), sorted(b.Witnesses)
	return reflect.DeepEqual(a, b)
}

// sameInWindows checks that the outcomes are the same when the history is judged in windows of
// a few events, by either engine.
func sameInWindows(t *rapid.T, h *histories.History, whole *Report, n int) {
	t.Helper()
	for _, engine := range []Engine{Both, Interval, Porcupine} {
		r, err := Check(context.Background(), h, windowed(n), WithEngine(engine))
		if err != nil {
			t.Fatalf("%s, in windows of %d events: %v\n%s", engine, n, err, drawn.Text(h))
		}
		for i := range r.Verdicts {
			got, want := &r.Verdicts[i], &whole.Verdicts[i]
			if engine == Both && toTheLetter[got.Guarantee] && !sameVerdict(*got, *want) {
				t.Fatalf("in windows of %d events:\n%+v\nas a whole:\n%+v\n%s", n, *got, *want, drawn.Text(h))
			}
			if got.Outcome == want.Outcome || engine == Porcupine && got.Outcome == verdict.NotJudged {
				continue
			}
			if got.Outcome == verdict.Unknown && engine != Both {
				continue // only the other engine decides it
			}
			t.Fatalf("%s, in windows of %d events: %v; as a whole: %v\n%s", engine, n, got, want, drawn.Text(h))
		}
	}
}
