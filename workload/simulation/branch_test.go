package simulation

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

// curve is a search in a made-up run: rate returns the share of the runs that violate when they go
// on otherwise from a message on.
func curve(end int, seed uint64, rate func(at int) float64) *branching {
	return &branching{
		end: end, began: time.Now(), shares: map[int][]bool{}, done: func(int) {},
		again: func(_ context.Context, at, n int) (bool, error) {
			return rand.New(rand.NewPCG(seed, uint64(at)<<8+uint64(n))).Float64() < rate(at), nil
		},
	}
}

func TestTheSearchFindsTheMessageThatDecides(t *testing.T) {
	const end, cause = 20_000, 7_321
	for name, c := range map[string]struct {
		before, after float64
		found, narrow int // of 100 searches
	}{
		"never before": {0, 1, 100, 100}, "seldom": {0.1, 1, 100, 95}, "now and then": {0.3, 1, 98, 65}, "mostly behind": {0.1, 0.9, 98, 80},
	} {
		found, narrow, runs := 0, 0, 0
		for seed := range uint64(100) {
			b := curve(end, seed, func(at int) float64 { return step(at, cause, c.before, c.after) })
			if err := b.search(t.Context()); err != nil {
				t.Fatal(err)
			}
			runs = max(runs, b.runs)
			for _, f := range b.found {
				if f[0] < cause && f[1] >= cause {
					found++
					if f[1]-f[0] <= 4 {
						narrow++
					}
				}
			}
		}
		t.Logf("%s: %d of 100 searches, %d within 4 messages, in at most %d runs", name, found, narrow, runs)
		if found < c.found || narrow < c.narrow || runs > DecideRuns {
			t.Errorf("%s: %d of 100 searches find the message, %d within 4 messages, in up to %d runs", name, found, narrow, runs)
		}
	}
}

func step(at, cause int, before, after float64) float64 {
	if at < cause {
		return before
	}
	return after
}

// Where two choices have to come together, one of them is found, and often both.
func TestTheSearchFindsMessagesThatDecideTogether(t *testing.T) {
	one, both := 0, 0
	for seed := range uint64(20) {
		b := curve(5_000, seed, func(at int) float64 { return step(at, 1_000, 0, step(at, 4_000, 0.5, 1)) })
		if err := b.search(t.Context()); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, f := range b.found {
			if f[0] < 1_000 && f[1] >= 1_000 || f[0] < 4_000 && f[1] >= 4_000 {
				n++
			}
		}
		if n > 0 {
			one++
		}
		if n > 1 {
			both++
		}
	}
	t.Logf("one of them in %d of 20 searches, both in %d", one, both)
	if one < 17 || both < 5 {
		t.Errorf("one of them in %d of 20 searches, both in %d", one, both)
	}
}

func TestWhatEveryRunViolatesWasDecidedByNoChoice(t *testing.T) {
	b := curve(5_000, 1, func(int) float64 { return 1 })
	if err := b.search(t.Context()); err != nil || len(b.found) > 0 || b.runs != Continuations/2 {
		t.Errorf("%v after %d runs, %v", b.found, b.runs, err)
	}
}

func TestTheSearchEndsWithAnErrorOfARun(t *testing.T) {
	full := errors.New("disk full")
	b := curve(5_000, 1, func(int) float64 { return 0 })
	b.again = func(_ context.Context, at, _ int) (bool, error) {
		if at > 0 {
			return false, full
		}
		return false, nil
	}
	if err := b.search(t.Context()); !errors.Is(err, full) {
		t.Error(err)
	}
}
