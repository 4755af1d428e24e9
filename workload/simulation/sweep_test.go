package simulation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
)

func TestASweepGoesOnWhereItWas(t *testing.T) {
	path := filepath.Join(t.TempDir(), ResultsFile)
	open := func() *Sweep {
		t.Helper()
		s, err := OpenSweep(path, "", false)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	add := func(s *Sweep, o Outcome) {
		t.Helper()
		if err := s.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	first := open()
	add(first, Outcome{Spec: spec(1, "random", "recipes"), Outcome: verdict.Holds})
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"spec":{"seed":`); err != nil { // an interrupt
		t.Fatal(err)
	}
	_ = f.Close()
	second := open()
	if !second.Has(spec(1, "random", "recipes")) || second.Has(spec(2, "random", "recipes")) || second.Made() != 1 {
		t.Errorf("%d runs", second.Made())
	}
	add(second, Outcome{Spec: spec(2, "random", "recipes"), Outcome: verdict.Violated, Violated: []string{"fairness"}})
	third := open()
	if third.Outcome(1) != verdict.Violated || third.Made() != 0 {
		t.Errorf("nothing is asked for yet: %d made", third.Made())
	}
	for seed := range int64(2) {
		third.Has(spec(seed+1, "random", "recipes"))
	}
	if third.Made() != 2 || third.Violated() != 1 || third.Outcome(2) != verdict.Violated || len(third.ToExplain()) != 1 {
		t.Errorf("%d runs, %d violated", third.Made(), third.Violated())
	}
}

func TestASweepHoldsIfARunPutEverythingToTheTest(t *testing.T) {
	for name, c := range map[string]struct {
		outcomes []Outcome
		seeds    int
		want     verdict.Outcome
		says     string
	}{
		"all hold":               {[]Outcome{{Outcome: verdict.Holds}}, 1, verdict.Holds, "1 of 1 run: 0 violated, 0 failed, 1 hold"},
		"one shows little":       {[]Outcome{{Outcome: verdict.Holds}, {Outcome: verdict.NotExercised}}, 2, verdict.Holds, "1 violate nothing but"},
		"none shows everything":  {[]Outcome{{Outcome: verdict.NotExercised}}, 1, verdict.NotExercised, "0 hold"},
		"one is missing":         {[]Outcome{{Outcome: verdict.Holds}}, 2, verdict.Unknown, "1 of 2 runs"},
		"all there was time for": {[]Outcome{{Outcome: verdict.Holds}, {Outcome: verdict.Holds}}, 0, verdict.Holds, "2 runs: 0 violated"},
		"one is undecided":       {[]Outcome{{Outcome: verdict.Unknown}, {Outcome: verdict.Holds}}, 2, verdict.Unknown, "0 failed, 1 hold, 1 unknown"},
		"one failed":             {[]Outcome{{Outcome: verdict.Unknown, Trouble: "it ended"}}, 1, verdict.Unknown, "1 failed"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := OpenSweep(filepath.Join(t.TempDir(), ResultsFile), "", false)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for i, o := range c.outcomes {
				o.Spec.Seed = int64(i)
				if err := s.Add(o); err != nil {
					t.Fatal(err)
				}
			}
			if got := s.Outcome(c.seeds); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if text := s.Summary(c.seeds, time.Second); !strings.Contains(text, c.says) {
				t.Errorf("%q does not say %q", text, c.says)
			}
		})
	}
}

// The runs of other seeds in the folder do not stand for those that are missing.
func TestRunsThatWereMadeBeforeAreNotThoseThatAreAskedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), ResultsFile)
	first := openSweep(t, path)
	for seed := range int64(3) {
		if err := first.Add(Outcome{Spec: spec(seed, "random", "recipes"), Outcome: verdict.Holds}); err != nil {
			t.Fatal(err)
		}
	}
	second := openSweep(t, path)
	second.Has(spec(2, "random", "recipes"))
	second.Has(spec(3, "random", "recipes"))
	if got := second.Outcome(2); second.Made() != 1 || got != verdict.Unknown {
		t.Errorf("%d made, %s", second.Made(), got)
	}
	if text, want := second.Summary(2, time.Second), "1 of 2 runs, and 2 that were made before: 0 violated, 0 failed, 3 hold"; !strings.HasPrefix(text, want) {
		t.Errorf("%q, want %q", text, want)
	}
	if err := second.Add(Outcome{Spec: spec(3, "random", "recipes"), Outcome: verdict.Holds}); err != nil {
		t.Fatal(err)
	}
	if got := second.Outcome(2); got != verdict.Holds {
		t.Errorf("when both are made: %s", got)
	}
}
