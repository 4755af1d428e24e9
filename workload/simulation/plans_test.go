package simulation

import (
	"testing"
	"testing/synctest"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/nemesis/faults"
)

// No plan draws a fault that simulated servers cannot have: the run would fail.
func TestNoPlanDrawsAFaultThatSimulatedServersDoNotHave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := simulated.InMemory(ensemble.LocalConfig{}, simulated.Memory{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		for _, k := range faults.List() {
			if got := k.Needs.MetBy(e); got != possible(k) {
				t.Errorf("%s: simulated servers have what it needs: %v, and plans draw it: %v", k.Name, got, possible(k))
			}
		}
	})
}
