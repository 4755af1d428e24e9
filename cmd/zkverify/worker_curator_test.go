package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

// curatorWorker returns the command of the Java worker for Curator. It skips the test where
// Curator or a JDK is missing.
func curatorWorker(t *testing.T) string { t.Helper(); return javaWorker(t, "curator/curator_worker") }

// javaWorker returns the command of one of the example workers in Java.
func javaWorker(t *testing.T, script string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs servers")
	}
	worker, err := filepath.Abs(filepath.Join(root, "workload/examples", script))
	if err != nil {
		t.Fatal(err)
	}
	ensembletest.Turn(t)
	// Without input the worker ends at once.
	out, err := exec.Command(worker).CombinedOutput()
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() == exitUnavailable {
		t.Skip(strings.TrimSpace(string(out)))
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return worker
}

// Elections of Curator are driven while processes of leaders are killed, and sessions
// are forced to expire.
func TestElectionsInJavaAreDriven(t *testing.T) {
	for recipe, class := range map[string]string{"latch": "LeaderLatch", "selector": "LeaderSelector"} {
		t.Run(class, func(t *testing.T) {
			if recipe != "latch" {
				ensembletest.EveryNight(t)
			}
			t.Parallel()
			status, said, _ := inProcess(t,
				"run", "--ensemble", ensembletest.Kind(t), "--recipe", "election", "--workers", "2", "--worker-command", curatorWorker(t)+" "+recipe, "--clients", "4", "--locks", "1", "--duration", "4s",
				"--faults", "kill-worker,expire-session", "--seed", "4", "--out", filepath.Join(t.TempDir(), "run"))
			if status == exitUsage || status == exitUnavailable || strings.Contains(said, "the run failed") {
				t.Fatalf("exit status %d:\n%s", status, said)
			}
			for _, want := range []string{`curator-[0-9.]+-` + class, "no lost update, plain +holds", "no leak +holds", "not promised:.* fencing; fairness"} {
				if !regexp.MustCompile(want).MatchString(said) {
					t.Errorf("no %q in\n%s", want, said)
				}
			}
		})
	}
}

// A leader that never checks whether it still leads is caught as soon as a session ends.
func TestACarelessLeaderInJavaIsCaught(t *testing.T) {
	ensembletest.EveryNight(t)
	t.Parallel()
	isCaught(t, curatorWorker(t)+" latch --careless", "--recipe", "election", "--duration", "8s")
}

// TestTheWorkersInJavaDoAllRight runs on real servers in make test-real, as the other tests of
// these workers do. Steps that are the same for every recipe are tested with one recipe alone.
func TestTheWorkersInJavaDoAllRight(t *testing.T) {
	lockSteps := "acquire,try,wait,cancel"
	for _, w := range []struct{ script, recipe, steps string }{
		{"curator/curator_worker", "latch", lockSteps + ",observe"},
		{"curator/curator_worker", "selector", lockSteps + ",observe"},
		{"curator/curator_worker", "mutex", ""},
		{"curator/curator_worker", "nonreentrant", lockSteps},
		{"curator/curator_worker", "readwrite", lockSteps + ",reenter"},
		{"curator/curator_worker", "multilock", lockSteps},
		{"curator/curator_worker", "semaphore", lockSteps},
		{"curator/curator_worker", "sharedsemaphore", lockSteps},
		{"curator/curator_worker", "revocation", lockSteps + ",reenter,revoke"},
		{"curator/curator_worker", "barrier", "barrier"},
		{"curator/curator_worker", "doublebarrier", "double barrier"},
		{"zookeeper/zookeeper_worker", "lock", lockSteps + ",loss,crash,close"},
		{"zookeeper/zookeeper_worker", "election", lockSteps + ",observe"},
	} {
		t.Run(filepath.Base(w.script)+" "+w.recipe, func(t *testing.T) {
			t.Parallel()
			if w.recipe != "mutex" && w.recipe != "lock" {
				ensembletest.EveryNight(t)
			}
			args := []string{"worker", "check", "--ensemble", ensembletest.Kind(t)}
			if w.steps != "" {
				args = append(args, "--step", w.steps)
			}
			args = append(args, javaWorker(t, w.script)+" "+w.recipe)
			if status, said, _ := inProcess(t, args...); status != exitHolds {
				t.Errorf("exit status %d:\n%s", status, said)
			}
		})
	}
}

// Holders of each kind of lock take part in a run without faults: a failure is then one of the
// worker. Locks whose library has a defect that a run without faults finds are left out;
// docs/worker.md names them.
func TestLocksInJavaHoldWithoutFaults(t *testing.T) {
	for _, recipe := range []string{"multilock", "revocation"} {
		t.Run(recipe, func(t *testing.T) {
			t.Parallel()
			ensembletest.EveryNight(t)
			var status int
			var said string
			for duration := 3 * time.Second; duration < time.Minute; duration *= 4 { // a busy machine makes too few cycles
				status, said, _ = inProcess(t,
					"run", "--ensemble", "simulated", "--recipe", recipe, "--workers", "2", "--worker-command", curatorWorker(t)+" "+recipe, "--clients", "4", "--locks", "1", "--duration", duration.String(),
					"--faults", "none", "--seed", "4", "--out", filepath.Join(t.TempDir(), "run"))
				if status != exitUnknown {
					break
				}
			}
			if status != exitHolds {
				t.Errorf("exit status %d:\n%s", status, said)
			}
		})
	}
}
