package trackrecord

import (
	"testing"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

// There are no findings about servers of which one was restarted.
func TestStepsOnServers(t *testing.T) {
	if testing.Short() {
		t.Skip("needs real servers")
	}
	ensembletest.EveryNight(t)
	ensembletest.Real(t, "the steps are about what real servers have on their disks")
	if ensembletest.Simulated(t) {
		t.Skip("simulated servers have no logs on disk")
	}
	ensembletest.Turn(t)
	script := Script{Shows: Trees, Steps: []Step{
		{Do: "kill", Server: first},
		{Do: "write", Server: leader, N: 3},
		{Do: "start", Server: first},
		{Do: "serve", Server: first},
		{Do: "write", Server: first, N: 1},
	}}
	if found, err := carryOut(t.Context(), script, t.TempDir()); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}
