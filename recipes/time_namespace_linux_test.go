package recipes_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A container may have a time namespace, in which CLOCK_BOOTTIME is off by a constant. This
// program runs again in a namespace that is a day ahead, and its leases are kept and lost as
// elsewhere.
func TestATimeNamespaceDisturbsNoLease(t *testing.T) {
	needServers(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	unshare := []string{"unshare", "--time", "--boottime", "86400", "--monotonic", "3600"}
	if out, err := exec.Command(unshare[0], append(unshare[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no time namespace can be made (it takes root, and util-linux 2.36): %v: %s", err, out)
	}
	const tests = "^(TestALeaseLivesAsLongAsItsSession|TestAShortCutSuspendsALeaseAndLongOnesEndIt|TestAListenerIsToldOfTheLossWhileTheCutLasts)$"
	out, err := exec.Command(unshare[0], append(unshare[1:], self, "-test.run", tests, "-test.v")...).CombinedOutput()
	if err != nil || strings.Count(string(out), "\n--- PASS") != 3 {
		t.Errorf("in the namespace: %v\n%s", err, out)
	}
}
