package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

// kazooWorker is the command of the example of a worker in Python. The test is
// skipped where kazoo is missing.
func kazooWorker(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs servers")
	}
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

// TestALockInAnotherLanguageIsDriven has kazoo's lock, in Python, contended for by
// clients in two processes of which one is killed.
func TestALockInAnotherLanguageIsDriven(t *testing.T) {
	t.Parallel()
	status, said, _ := inProcess(t,
		"run", "--ensemble", ensembletest.Kind(t), "--workers", "2", "--worker-command", kazooWorker(t), "--clients", "4", "--locks", "1", "--duration", "8s",
		"--faults", "kill-worker,expire-session", "--seed", "4", "--out", filepath.Join(t.TempDir(), "run"))
	if status == exitUsage || status == exitUnavailable || strings.Contains(said, "the run failed") {
		t.Fatalf("exit status %d:\n%s", status, said)
	}
	for _, want := range []string{"kazoo-lock", "mutual exclusion +holds", "no lost update, plain +holds", "no leak +holds"} {
		if !regexp.MustCompile(want).MatchString(said) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}

// TestTheWorkerInPythonDoesAllRight runs on real servers, as their other clients do.
func TestTheWorkerInPythonDoesAllRight(t *testing.T) {
	t.Parallel()
	if status, said, _ := inProcess(t, "worker", "check", kazooWorker(t)); status != exitHolds {
		t.Errorf("exit status %d:\n%s", status, said)
	}
}
