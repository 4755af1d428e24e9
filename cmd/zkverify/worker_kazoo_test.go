package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestALockInAnotherLanguageIsDriven has kazoo's lock, in Python, contended for by
// clients in two processes of which one is killed.
func TestALockInAnotherLanguageIsDriven(t *testing.T) {
	if testing.Short() {
		t.Skip("needs real servers")
	}
	python := ""
	for _, p := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(p, "-c", "import kazoo").Run() == nil {
			python = p
			break
		}
	}
	if python == "" {
		t.Skip("no Python 3 with kazoo here (Debian: apt install python3-kazoo)")
	}
	worker, err := filepath.Abs(filepath.Join(root, "workload/examples/kazoo_worker.py"))
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	status := zkverify([]string{
		"run", "--workers", "2", "--worker-command", python + " -u -B " + worker, "--clients", "4", "--locks", "1", "--duration", "8s",
		"--faults", "kill-worker,expire-session", "--seed", "4", "--out", filepath.Join(t.TempDir(), "run"),
	}, &console{out: &said, err: &said})
	if status == exitUsage || status == exitUnavailable || strings.Contains(said.String(), "the run failed") {
		t.Fatalf("exit status %d:\n%s", status, &said)
	}
	for _, want := range []string{"kazoo-lock", "mutual exclusion        holds", "no lost update, plain   holds", "no leak                 holds"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("no %q in\n%s", want, &said)
		}
	}
}
