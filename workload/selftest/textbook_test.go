package selftest

import (
	"testing"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/campaign"
)

// Each gap of the textbook's locks is found by one kind of fault.
func TestWhatIsWrongWithTheTextbooksLocksIsFound(t *testing.T) {
	v := inVirtualTime(t, "yes")
	for name, c := range map[string]Trial{
		"the holder of one node for all outlives its session": {Target: "naive", Provocation: "silent-holder", Guarantee: checker.MutualExclusion},
		"the first in a queue outlives its session":           {Target: "plain", Provocation: "silent-holder", Guarantee: checker.MutualExclusion},
		"a create whose reply is lost leaves its node":        {Target: "plain", Provocation: "half-open", Guarantee: checker.NoLeak},
		"the waiter ahead of one dies, not the holder":        {Target: "plain-lists-once", Provocation: "stolen-waiter", Guarantee: checker.MutualExclusion},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.Recipe, c.Seed = histories.Mutex, 1
			if err := c.untilCaught(t.Context(), &campaign.Campaign{}, 3, func(trial *Trial) (bool, error) { return v.run(t.Context(), dir, trial) }); err != nil {
				t.Fatal(err)
			}
			if !c.OK {
				t.Errorf("%s escapes: %s", c.Target, c.Why)
			}
		})
	}
}
