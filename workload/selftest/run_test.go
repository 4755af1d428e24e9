package selftest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/workload/mutants"
)

// A mutant in processes that are paused, a known bad lock, and the unmutated recipe. The rest
// takes minutes: make selftest.
func TestABadLockIsCaughtAndTheRecipeIsNot(t *testing.T) {
	ensembletest.EveryNight(t)
	if testing.Short() {
		t.Skip("needs servers")
	}
	network, err := links.InProcess()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { network.Close() })
	servers := ensembletest.Start(t, ensemble.LocalConfig{Peers: network})
	provocations, err := Select([]string{"zk-lock", "paused-holders"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir, worker := t.TempDir(), []string{mutantsProgram(t), "worker"}
	run := func(provocations []Provocation) *Matrix {
		m, err := Run(t.Context(), Config{Ensemble: servers, Network: network, Provocations: provocations, Seed: 1, Seeds: 2, Dir: dir, Worker: worker})
		if err != nil {
			t.Fatal(err)
		}
		for _, trial := range m.Trials {
			t.Logf("%+v", trial)
		}
		return m
	}
	m := run(provocations)
	if !m.OK() {
		t.Errorf("not as it should be: %+v", m.Wrong())
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("something is kept of what went well: %v", left)
	}

	// A self-test that cannot fail proves nothing: a correct lock that is called bad escapes,
	// and its history is kept.
	before := knownBad
	knownBad = append(slices.Clone(before), mutants.Defect{Name: unmutated, Guarantee: checker.MutualExclusion})
	defer func() { knownBad = before }()
	m = run(provocations[:1])
	wrong := m.Wrong()
	if m.OK() || len(wrong) != 1 || wrong[0].Target != unmutated {
		t.Fatalf("a lock without a bug has been caught: %+v", m.Trials)
	}
	if _, err := os.Stat(wrong[0].Kept); err != nil {
		t.Error(err)
	}
}

func TestWithoutWorkersNoProcessCanBePaused(t *testing.T) {
	provocations, err := Select([]string{"paused-holders"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if why := impossible(Config{}, provocations[0]); why != "there is no command of a worker process" {
		t.Errorf("got %q", why)
	}
	if why := impossible(Config{Worker: []string{"zkverify", "worker"}, Ensemble: (*ensemble.Ext)(nil)}, provocations[0]); why != "" {
		t.Errorf("with workers: %s", why)
	}
}
