package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

// goWorker builds the example worker in Go, and returns its path.
func goWorker(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "myworker")
	build := exec.Command("go", "build", "-o", program, module+"/workload/examples/myworker")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// A worker program of a few lines can be driven without further options: it describes its lock.
func TestALockInAGoWorkerIsDriven(t *testing.T) {
	if testing.Short() {
		t.Skip("needs servers")
	}
	t.Parallel()
	status, said, _ := inProcess(t,
		"run", "--ensemble", ensembletest.Kind(t), "--workers", "2", "--worker-command", goWorker(t), "--clients", "4", "--locks", "1", "--duration", "5s",
		"--faults", "kill-worker", "--seed", "4", "--out", filepath.Join(t.TempDir(), "run"))
	if status == exitUsage || status == exitUnavailable || strings.Contains(said, "the run failed") {
		t.Fatalf("exit status %d:\n%s", status, said)
	}
	if !strings.Contains(said, "my-lock") || strings.Contains(said, "recipes") {
		t.Errorf("the lock of the worker was not driven:\n%s", said)
	}
}

// wrongWorker says hello and nothing more.
const wrongWorker = `echo '{"at":1,"event":"hello","protocol":1,"hosts":{"name":"mute","description":"","recipes":["mutex"],"promises":{}}}'; cat >/dev/null`

func TestAWorkerThatIsWrongIsNamedStepByStep(t *testing.T) {
	if testing.Short() {
		t.Skip("needs real servers")
	}
	var said bytes.Buffer
	status := zkverify([]string{"worker", "check", "--patience", "300ms", "--step", "echo", "sh -c '" + strings.ReplaceAll(wrongWorker, "'", `'\''`) + "'"}, &console{out: &said, err: &said})
	for _, want := range []string{"WRONG    echo", `sent      {"id":1,"do":"echo","client":0}`, `expected  an answer to echo ("id":1) within 300ms`, "came      nothing", "CLOCK_MONOTONIC", "The worker does 2 of 3 steps wrong"} {
		if status != exitViolated || !strings.Contains(said.String(), want) {
			t.Errorf("exit status %d, no %q in\n%s", status, want, &said)
		}
	}
}
