package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

// kazooWorker returns the command of the example worker in Python. It skips the
// test where kazoo is missing.
func kazooWorker(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs servers")
	}
	ensembletest.Turn(t)
	worker, err := filepath.Abs(filepath.Join(root, "workload/examples/kazoo_worker.py"))
	if err != nil {
		t.Fatal(err)
	}
	for _, python := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(python, "-c", "import kazoo").Run() == nil {
			return python + " -B " + worker
		}
	}
	t.Skip("no Python 3 with kazoo here (Debian: sh ensemble/install.sh --kazoo)")
	return ""
}

// TestALockInAnotherLanguageIsDriven drives kazoo's lock, in Python, by clients in two
// processes of which one is killed.
func TestALockInAnotherLanguageIsDriven(t *testing.T) {
	t.Parallel()
	status, said, _ := inProcess(t,
		"run", "--ensemble", ensembletest.Kind(t), "--workers", "2", "--worker-command", kazooWorker(t), "--clients", "4", "--locks", "1", "--duration", "8s",
		"--faults", "kill-worker,expire-session", "--seed", "4", "--out", filepath.Join(t.TempDir(), "run"))
	if status == exitUsage || status == exitUnavailable || strings.Contains(said, "the run failed") {
		t.Fatalf("exit status %d:\n%s", status, said)
	}
	for _, want := range []string{`kazoo-[0-9.]+-lock`, "mutual exclusion +holds", "no lost update, plain +holds", "no leak +holds"} {
		if !regexp.MustCompile(want).MatchString(said) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}

// Each of kazoo's other recipes is driven, some by commands of their own.
func TestRecipesInPythonAreDriven(t *testing.T) {
	for name, want := range map[string]string{
		"readwrite":     `read/write +holds`,
		"semaphore":     `permits +holds`,
		"barrier":       `barriers +holds`,
		"doublebarrier": `[1-9][0-9]* members of a double barrier`,
		"election":      `mutual exclusion +holds`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "doublebarrier" {
				ensembletest.EveryNight(t)
			}
			_, said, _ := inProcess(t,
				"run", "--ensemble", ensembletest.Kind(t), "--recipe", name, "--workers", "2", "--worker-command", kazooWorker(t)+" "+name, "--clients", "2", "--locks", "1", "--duration", "2s",
				// No acquire waits without a limit: readers and writers of kazoo up to 2.8 may wait
				// for ever (kazoo #649).
				"--timeout", "0.75", "--faults", "none", "--seed", "1", "--out", filepath.Join(t.TempDir(), "run"))
			if !regexp.MustCompile(want).MatchString(said) {
				t.Errorf("no %q in\n%s", want, said)
			}
		})
	}
}

// A holder that never checks the state of its connection is caught as soon as its
// session ends.
func TestACarelessHolderInPythonIsCaught(t *testing.T) {
	ensembletest.EveryNight(t)
	t.Parallel()
	isCaught(t, kazooWorker(t)+" lock --careless", "--duration", "6s")
}

// isCaught drives careless clients of a worker until two are seen to hold a lock. It
// repeats a run that zkverify reports as spoilt by a busy machine.
func isCaught(t *testing.T, worker string, args ...string) {
	t.Helper()
	var status int
	var said string
	for range 5 {
		status, said, _ = inProcess(t, append([]string{"run", "--ensemble", ensembletest.Kind(t), "--workers", "2", "--worker-command", worker, "--clients", "4", "--locks", "1",
			"--faults", "expire-silence", "--hold", "300ms", "--seed", "4", "--out", filepath.Join(t.TempDir(), "run")}, args...)...)
		if !strings.Contains(said, "no lease was held when a fault started") && !strings.Contains(said, "the machine was too busy") {
			break
		}
	}
	if status != exitViolated || !strings.Contains(said, "both held lock") {
		t.Errorf("exit status %d:\n%s", status, said)
	}
}

// TestTheWorkerInPythonDoesAllRight uses the default of worker check, real servers.
func TestTheWorkerInPythonDoesAllRight(t *testing.T) {
	ensembletest.EveryNight(t)
	t.Parallel()
	if status, said, _ := inProcess(t, "worker", "check", kazooWorker(t)); status != exitHolds {
		t.Errorf("exit status %d:\n%s", status, said)
	}
}

func TestTheWorkerInPythonDoesAllRightWithEachRecipe(t *testing.T) {
	for _, name := range []string{"readwrite", "semaphore", "barrier", "doublebarrier", "election --careless"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "semaphore" {
				ensembletest.EveryNight(t)
			}
			if status, said, _ := inProcess(t, "worker", "check", "--ensemble", ensembletest.Kind(t), "--session-timeout", "2s", kazooWorker(t)+" "+name); status != exitHolds {
				t.Errorf("exit status %d:\n%s", status, said)
			}
		})
	}
}

func TestTheWorkerInPythonNamesWhatItHosts(t *testing.T) {
	command := strings.Fields(kazooWorker(t))
	out, err := exec.Command(command[0], append(command[1:], "latch")...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "'latch'") || !strings.Contains(string(out), "'doublebarrier'") {
		t.Errorf("%v: %s", err, out)
	}
}
