package simulated_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestKazooWorksOnASimulatedEnsemble is skipped if kazoo is missing. The same with
// Curator is recipes/interop, with ZKVERIFY_TEST_SERVERS=simulated.
func TestKazooWorksOnASimulatedEnsemble(t *testing.T) {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import kazoo").Run() != nil {
			continue
		}
		out, err := exec.CommandContext(t.Context(), python, "testdata/kazoo_client.py", strings.Join(addresses(start(t)), ",")).CombinedOutput()
		if err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	t.Skip("no Python 3 with kazoo here (Debian: sh ensemble/install.sh --kazoo)")
}
