package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/workload/simulation"
)

// What is printed to run a violation again is the same run.
func TestTheCommandOfARunInVirtualTimeMakesTheSameRun(t *testing.T) {
	for _, args := range []string{
		"sim --from 5 --seeds 1 --plan island",
		"sim --from 5 --seeds 1 --plan swarm --recipe semaphore,mutex --clients 7 --locks 2 --duration 30s --session-timeout 4s --zookeeper 3.9.6 --faults down,kill-server",
		"sim --from=-3 --seeds 1 --plan edges --target mutant-inner-release",
	} {
		spec := func(args string) simulation.Spec {
			t.Helper()
			var c cli
			parser, err := newParser(&c, &console{}, func(int) {})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parser.Parse(strings.Fields(args)); err != nil {
				t.Fatalf("%s: %v", args, err)
			}
			s, err := c.Sim.spec()
			if err != nil {
				t.Fatalf("%s: %v", args, err)
			}
			s.Seed, s.Plan = *c.Sim.From, c.Sim.Plan
			return s
		}
		first := spec(args)
		if again := spec(first.Command()); !reflect.DeepEqual(first, again) {
			t.Errorf("%s\nis told as %s\n%+v\n%+v", args, first.Command(), first, again)
		}
	}
}

// What cannot be carried out is refused before any run is made.
func TestRunsInVirtualTimeRefuseBadInput(t *testing.T) {
	late := filepath.Join(t.TempDir(), "late.yaml")
	if err := os.WriteFile(late, []byte("faults:\n  - {at: 2m, fault: down, for: 1s}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for args, says := range map[string]string{
		"--plan ramdom":        `did you mean "random"?`,
		"--faults flood":       `unknown fault "flood"`,
		"--faults kill-worker": "needs clients in worker processes",
		"--target nobody":      `unknown target "nobody"`,
		"--recipe latch":       `unknown recipe "latch"`,
		"--seeds 0":            "--seeds must be at least 1",
		"--trace":              "give --seeds 1",
		"--zookeeper 3.4.0":    "can be simulated",
		"--schedule none.yaml": "no such file",
		"--schedule " + late:   "after the faults have ended",
	} {
		var out, errs bytes.Buffer
		dir := filepath.Join(t.TempDir(), "sim")
		status := zkverify(append([]string{"sim", "--out", dir}, strings.Fields(args)...), &console{out: &out, err: &errs})
		if status != exitUsage || !strings.Contains(errs.String(), says) {
			t.Errorf("%s: status %d, %s", args, status, errs.String())
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: it has made a folder", args)
		}
	}
}
