package selftest

import (
	"reflect"
	"testing"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/workload/campaign"
)

// A trial that has shown nothing is made again with the next seed, and keeps nothing of before.
func TestATrialThatHasShownNothingIsMadeAgain(t *testing.T) {
	trial, runs := Trial{Target: "it", Seed: 7}, 0
	err := trial.untilCaught(t.Context(), &campaign.Campaign{}, 2, func(trial *Trial) (bool, error) {
		switch runs++; runs {
		case 2: // the second run of the first seed shows that the recipe passes
			trial.OK = true
			return false, nil
		case 5: // the third one of the second seed, that it does not
			trial.Why = "a lock that two held"
			return false, nil
		}
		trial.Why, trial.Fired = "no one to hit", []string{"left over"}
		return true, nil
	})
	if want := (Trial{Target: "it", Seed: 12, Why: "a lock that two held", Runs: 2, Again: 2}); err != nil || !reflect.DeepEqual(trial, want) {
		t.Errorf("%+v, %v; want %+v", trial, err, want)
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
