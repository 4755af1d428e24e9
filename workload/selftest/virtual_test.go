package selftest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/mutants"
)

const mutantsVersion = "of-the-test"

// mutantsProgram returns the path of a zkverify with mutants, of mutantsVersion.
func mutantsProgram(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles zkverify")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	p, err := mutants.Program(root)
	if err != nil {
		t.Fatal(err)
	}
	p.Out, p.Flags = filepath.Join(t.TempDir(), "zkverify-mutants"), append(p.Flags, "-ldflags", "-X main.version="+mutantsVersion)
	if err := p.Build(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return p.Out
}

// inVirtualTime runs trials in processes of this test's own program.
func inVirtualTime(t *testing.T, as string) *Virtual {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &Virtual{Subprocess: campaign.Subprocess{Command: []string{program}, Environ: []string{hostEnv + "=" + as}}, Jobs: 2}
}

func selected(t *testing.T, names ...string) []Provocation {
	t.Helper()
	all, err := Select(names, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestMutantsAreCaughtInVirtualTimeAndTheRecipesPass(t *testing.T) {
	dir := t.TempDir()
	virtual := &Virtual{Subprocess: campaign.Subprocess{Command: []string{mutantsProgram(t), "selftest-run"}, Version: mutantsVersion}, Jobs: 2}
	var began, ended int
	m, err := Run(t.Context(), Config{
		Provocations: selected(t, "reentry", "zk-lock", "siblings"), Seed: 1, Seeds: 3, Dir: dir, Virtual: virtual,
		Began: func(n, of int, _ Trial) {
			if began++; n != began || of != 8 {
				t.Errorf("%d of %d begins as the %d.", n, of, began)
			}
		},
		Ended: func(Trial) { ended++ },
	})
	if err != nil || !m.OK() || len(m.Trials) != 8 || began != 8 || ended != 8 {
		t.Fatalf("%v, %d began, %d ended: %+v", err, began, ended, m)
	}
	if m.ZooKeeper != "3.8.0, simulated" {
		t.Errorf("on ZooKeeper %q", m.ZooKeeper)
	}
	order := []string{"zk-lock", unmutated, "mutant-inner-release", "mutant-depth-of-owner", "mutant-acquired-twice", unmutated, "mutant-sleeping-sibling", unmutated}
	for i, trial := range m.Trials {
		if trial.Target != order[i] {
			t.Errorf("the trial %d is of %s, want %s", i, trial.Target, order[i])
		}
		if trial.Target == unmutated && trial.Runs != 3 {
			t.Errorf("the recipe had %d runs in %s", trial.Runs, trial.Provocation)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("something is kept of what went well: %v", left)
	}
}

// A self-test that cannot fail proves nothing.
func TestALockWithoutABugIsNotCaughtInVirtualTime(t *testing.T) {
	dir := t.TempDir()
	p := selected(t, "reentry")[0]
	trial := Trial{Provocation: p.Name, Target: unmutated, Recipe: p.Recipe(), Guarantee: "reentrancy", Seed: 5}
	v := inVirtualTime(t, "yes")
	if err := trial.untilCaught(t.Context(), &campaign.Campaign{}, 3, func(trial *Trial) (bool, error) { return v.run(t.Context(), dir, trial) }); err != nil {
		t.Fatal(err)
	}
	if trial.OK || trial.Runs != 3 || !strings.Contains(trial.Why, "escaped") {
		t.Errorf("%+v", trial)
	}
	if _, err := os.Stat(trial.Kept); err != nil {
		t.Error(err)
	}
}

func TestATrialWhoseProcessFailsIsNotAsItShouldBe(t *testing.T) {
	dir := t.TempDir()
	v := inVirtualTime(t, "hangs")
	v.Patience = 3 * time.Second // enough for the process to begin: before that it has no goroutines to print
	m, err := Run(t.Context(), Config{Provocations: selected(t, "second-entry"), Seed: 1, Seeds: 1, Dir: dir, Virtual: v})
	if err != nil || m.OK() || len(m.Wrong()) != 2 {
		t.Fatalf("%v: %+v", err, m)
	}
	for _, trial := range m.Wrong() {
		text, err := os.ReadFile(trial.Kept)
		if err != nil || !strings.Contains(string(text), "goroutine") || !strings.Contains(trial.Why, "did not end") {
			t.Errorf("%v, %.100s: %+v", err, text, trial)
		}
	}
}

func TestASelfTestInVirtualTimeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m, err := Run(ctx, Config{
		Provocations: selected(t, "second-entry", "reentry"), Seed: 1, Seeds: 1, Dir: t.TempDir(), Virtual: inVirtualTime(t, "hangs"),
		Began: func(n, _ int, _ Trial) {
			if n == 2 {
				cancel()
			}
		},
	})
	if err != nil || !m.Interrupted || len(m.Trials) > 0 {
		t.Errorf("%v: %+v", err, m)
	}
}

func TestProcessesArePausedInVirtualTimeOnASeededRuntimeAlone(t *testing.T) {
	var not []string
	for _, p := range Provocations() {
		if !(&Virtual{}).Can(p) {
			not = append(not, p.Name)
		}
		if !(&Virtual{Subprocess: campaign.Subprocess{Seeded: true}}).Can(p) || (*Virtual)(nil).Can(p) {
			t.Error(p.Name)
		}
	}
	if !slices.Equal(not, []string{"paused-holders"}) {
		t.Errorf("%v", not)
	}
}
