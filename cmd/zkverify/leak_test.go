package main

import (
	"bytes"
	"regexp"
	"testing"

	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

// A night makes many runs in one process: goroutines that each run left would pile up.
func TestARunLeavesNoGoroutines(t *testing.T) {
	if testing.Short() {
		t.Skip("needs servers")
	}
	before := goleak.IgnoreCurrent()
	var said bytes.Buffer
	// Nearly any outcome will do: on a busy machine the run may be slow, or may not
	// exercise a guarantee.
	exit := zkverify([]string{"run", "--ensemble", ensembletest.Kind(t), "--recipe", "mutex,readwrite", "--faults", "slicer,truncated-reply,bandwidth,latency,reset,kill-server,isolate-leader", "--session-timeout", "1s", "--duration", "12s", "--seed", "9001", "--verbose", "--out", t.TempDir()}, &console{out: &said, err: &said})
	ran := regexp.MustCompile(`(?m)^mutual exclusion +holds(?s:.*)faults that struck: [1-9]`)
	if exit == exitUsage || exit == exitUnavailable || !ran.MatchString(said.String()) {
		t.Errorf("exit %d:\n%s", exit, said.String())
	}
	goleak.VerifyNone(t, before)
}
