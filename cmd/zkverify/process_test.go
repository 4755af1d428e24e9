package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

// asProgram is the environment variable that makes the test binary run as zkverify.
const asProgram = "ZKVERIFY_TEST_AS_PROGRAM"

// inProcess runs zkverify in a process of its own, and returns its exit status, its output
// and the process id. It is for parallel tests: at its end a run examines all goroutines of
// its process. It runs the program that scripts run, and every night this test binary, which
// has the race detector if the tests have it.
func inProcess(t *testing.T, args ...string) (status int, said string, pid int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(program(t), "zkverify"), args...)
	if os.Getenv(ensembletest.Variable) == "real" {
		cmd = exec.CommandContext(t.Context(), os.Args[0], args...)
		cmd.Env = append(os.Environ(), asProgram+"=1")
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if said = out.String(); strings.Contains(said, "WARNING: DATA RACE") {
		t.Errorf("a data race:\n%s", said)
	}
	return cmd.ProcessState.ExitCode(), said, cmd.ProcessState.Pid()
}
