package selftest

import (
	"errors"
	"reflect"
	"testing"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/nemesis"
)

func TestATrialThatHasShownNothingIsMadeAgain(t *testing.T) {
	type run = func(*Trial) (void bool, err error)
	void := func(t *Trial) (bool, error) {
		t.Why, t.Fired = "nobody to hit", []string{"left over"}
		return true, nil
	}
	good := func(t *Trial) (bool, error) { t.OK = true; return false, nil }
	bad := func(t *Trial) (bool, error) { t.Why = "escaped"; return false, nil }
	broken := func(*Trial) (bool, error) { return false, errors.New("no ensemble") }
	for name, c := range map[string]struct {
		runs []run
		want Trial
		err  bool
	}{
		"at once":          {runs: []run{good}, want: Trial{Target: "it", OK: true}},
		"the second time":  {runs: []run{void, good}, want: Trial{Target: "it", Seed: 1, OK: true, Again: 1}},
		"never":            {runs: []run{void, void, void}, want: Trial{Target: "it", Seed: 2, Why: "nobody to hit", Fired: []string{"left over"}, Again: 2}},
		"a lock escapes":   {runs: []run{bad}, want: Trial{Target: "it", Why: "escaped"}},
		"escapes later":    {runs: []run{void, bad}, want: Trial{Target: "it", Seed: 1, Why: "escaped", Again: 1}},
		"it cannot be run": {runs: []run{broken}, want: Trial{Target: "it"}, err: true},
	} {
		t.Run(name, func(t *testing.T) {
			trial := Trial{Target: "it"}
			err := trial.untilShown(func(trial *Trial) (bool, error) {
				if len(c.runs) == 0 {
					t.Fatal("once too often")
				}
				run := c.runs[0]
				c.runs = c.runs[1:]
				return run(trial)
			})
			if (err != nil) != c.err || len(c.runs) > 0 || !reflect.DeepEqual(trial, c.want) {
				t.Errorf("%+v, %v, %d runs not made; want %+v", trial, err, len(c.runs), c.want)
			}
		})
	}
}

// Of many deletions one comes too late now and then: the unmutated recipe has still been
// provoked. Of few faults each must strike.
func TestARunOfTheRecipeShowsNothingIfManyFaultsDidNotStrike(t *testing.T) {
	for _, c := range []struct {
		struck, skipped int
		void            bool
	}{
		{struck: 70}, {struck: 69, skipped: 1}, {struck: 60, skipped: 6}, {struck: 60, skipped: 7, void: true},
		{struck: 9, skipped: 1, void: true}, {struck: 0, skipped: 1, void: true}, {struck: 1},
	} {
		faults := nemesis.Report{Struck: c.struck}
		for range c.skipped {
			faults.Skipped = append(faults.Skipped, nemesis.Skipped{Reason: "the node was gone already"})
		}
		asItIs := Trial{OK: true}
		if void := asItIs.weigh(&checker.Report{}, faults, nil); void != c.void || asItIs.OK == c.void {
			t.Errorf("%d struck, %d did not: void %v, ok %v", c.struck, c.skipped, void, asItIs.OK)
		}
		mutant := Trial{OK: true, Guarantee: "mutual exclusion"}
		if mutant.weigh(&checker.Report{}, faults, nil) || !mutant.OK {
			t.Errorf("%d struck, %d did not: a mutant that was caught is made again", c.struck, c.skipped)
		}
	}
}
