package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
	model "github.com/zkverify/zkverify/spec"
	"github.com/zkverify/zkverify/workload/mutants"
	"github.com/zkverify/zkverify/workload/simulation"
)

// The command that is printed to repeat a violation makes the same run.
func TestTheCommandOfARunInVirtualTimeMakesTheSameRun(t *testing.T) {
	for _, args := range []string{
		"sim --from 5 --seeds 1 --plan island",
		"sim --from 5 --seeds 1 --plan swarm --recipe semaphore,mutex --clients 7 --locks 2 --duration 30s --session-timeout 4s --zookeeper 3.9.6 --faults down,kill-server",
		"sim --from=-3 --seeds 1 --plan edges --target zk-lock",
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
			s, err := c.Sim.spec(simulation.Fleet{})
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

// Without being asked a sweep is validated if it is long, of the recipes, and the tools are there.
func TestWhichRunsAreValidated(t *testing.T) {
	_, err := model.NewValidator()
	installed := err == nil
	for args, want := range map[string][2]bool{
		"sim":                                 {installed, true},
		"sim --for 1h":                        {installed, true},
		"sim --seeds 49":                      {},
		"sim --target zk-lock":                {},
		"sim --validate none":                 {},
		"sim --validate all --seeds 1":        {installed, false},
		"sim --validate all --target zk-lock": {installed, false},
	} {
		var c cli
		parser, err := newParser(&c, &console{}, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		v, oneInFour, err := c.Sim.validator()
		if got := [2]bool{v != nil, oneInFour}; err == nil && got != want && (installed || got[0]) {
			t.Errorf("%s: %v, want %v", args, got, want)
		}
		if c.Sim.Model == "all" && !installed && err == nil {
			t.Errorf("%s: the tools are missing, without an error", args)
		}
	}
}

// Runs that cannot be carried out are refused before the first is made.
func TestRunsInVirtualTimeRefuseBadInput(t *testing.T) {
	late := filepath.Join(t.TempDir(), "late.yaml")
	if err := os.WriteFile(late, []byte("faults:\n  - {at: 2m, fault: down, for: 1s}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for args, says := range map[string]string{
		"--plan ramdom":           `did you mean "random"?`,
		"--faults flood":          `unknown fault "flood"`,
		"--faults kill-worker":    "needs clients in processes of their own",
		"--target absent":         `unknown target "absent"`,
		"--recipe latch":          `unknown recipe "latch"`,
		"--seeds 0":               "--seeds must be at least 1",
		"--session-timeout 399ms": "must be at least two ticks (400ms), not 399ms",
		"--trace":                 "give --seeds 1",
		"--zookeeper 3.4.0":       "can be simulated",
		"--schedule none.yaml":    "no such file",
		"--schedule " + late:      "after the faults have ended",
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

// buildSeeded returns the path of a zkverify-mutants-sim, built as make build-mutants does.
func buildSeeded(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles the standard library")
	}
	return buildMutants(t, true)
}

// buildMutants returns the path of a zkverify with mutants, on a seeded runtime or not.
func buildMutants(t testing.TB, seeded bool) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	p, err := mutants.Program(root)
	if err != nil {
		t.Fatal(err)
	}
	p.Flags = nil // as program
	p.Seeded, p.Out = seeded, filepath.Join(t.TempDir(), mutantsProgram)
	if err := p.Build(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return p.Out
}

// messagesBefore returns the messages of a run's first seconds, whose number is given.
func messagesBefore(t *testing.T, program string, seconds float64, args ...string) (messages []string) {
	t.Helper()
	dir := t.TempDir()
	_ = exec.CommandContext(t.Context(), program, append(strings.Fields("sim --seeds 1 --from 410136 --plan orders --duration 20s --trace --out "+dir), args...)...).Run()
	text, err := os.ReadFile(filepath.Join(dir, "seed-410136-orders", simulation.TraceFile))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var at float64
		if _, err := fmt.Sscan(line, &at); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if at < seconds {
			messages = append(messages, line)
		}
	}
	return messages
}

// The seeded runtime pauses and kills processes of clients. The guarantees of the recipes hold,
// the same seed makes the same run, and a lock that does not notice the pause is caught.
func TestProcessesArePausedInVirtualTime(t *testing.T) {
	ensembletest.EveryNight(t)
	t.Parallel()
	program := buildSeeded(t)
	sim := func(args string) (all []simulation.Outcome) {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), program, append(strings.Fields("sim --json --duration 20s --out "+t.TempDir()), strings.Fields(args)...)...).Output()
		if status := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &status) || status.ExitCode() > exitUnknown) {
			t.Fatalf("%s: %v", args, err)
		}
		for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
			var o simulation.Outcome
			if err := d.Decode(&o); err != nil {
				t.Fatalf("%s: %v in %s", args, err, out)
			}
			all = append(all, o)
		}
		slices.SortFunc(all, func(a, b simulation.Outcome) int { return cmp.Compare(a.Spec.Seed, b.Spec.Seed) })
		return all
	}
	const faults = "--from 1 --seeds 3 --recipe mutex,readwrite --faults pause-worker,kill-worker"
	first, again := sim(faults), sim(faults)
	if len(first) != 3 || len(again) != 3 {
		t.Fatalf("%d and %d runs", len(first), len(again))
	}
	for i, o := range first {
		starts := o.Coverage.Starts
		if len(o.Violated) > 0 || o.Trouble != "" || starts["pause-worker"] < 2 || starts["kill-worker"] < 1 {
			t.Errorf("seed %d: violated %v, %s, faults %v", o.Spec.Seed, o.Violated, o.Trouble, starts)
		}
		if !o.Exact || o.Hash != again[i].Hash {
			t.Errorf("seed %d is another run the second time", o.Spec.Seed)
		}
	}
	// A run that ends early has the same messages until then.
	whole, early := messagesBefore(t, program, 6), messagesBefore(t, program, 6, "--until", "6s")
	if len(whole) < 1000 || !slices.Equal(whole, early) {
		t.Errorf("%d messages in six seconds, and %d, which are others, with --until 6s", len(whole), len(early))
	}
	edges := sim("--from 262 --seeds 1 --plan edges")
	for _, o := range edges {
		if len(o.Violated) > 0 || o.Trouble != "" || o.Coverage.Starts["pause-worker"] == 0 || len(o.Placements) == 0 {
			t.Errorf("pauses at messages: violated %v, %s, faults %v, placements %v", o.Violated, o.Trouble, o.Coverage.Starts, o.Placements)
		}
	}
	mutant := sim("--from 1 --seeds 1 --target mutant-forgives-pause --faults pause-worker")
	if len(mutant) != 1 || !slices.Contains(mutant[0].Violated, "loss is told") {
		t.Errorf("a lock that does not notice its pauses: %+v", mutant)
	}
	// The seeded runtime has no monitor, so a goroutine that waits for a program keeps its
	// processor. The Go command prints more than a pipe holds, so another processor must run the
	// goroutine that reads.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	list := exec.CommandContext(ctx, program, "mutate", "--list", "--filter", "hold.go", "--source", "../..")
	list.WaitDelay = time.Second // a program that it started may keep its output open
	if out, err := list.CombinedOutput(); err != nil || !strings.Contains(string(out), "recipes/hold.go") {
		t.Errorf("mutate --list: %v\n%.500s", err, out)
	}
}

// Commands that need mutants are carried out by the program with mutants beside this one: scripts
// in testdata try that. Without that program zkverify says how to build it.
func TestWithoutTheProgramThatHasTheMutants(t *testing.T) {
	var out bytes.Buffer
	status := zkverify([]string{"selftest", "--only", "mutant-inner-release", "--ensemble", "simulated", "--out", filepath.Join(t.TempDir(), "selftest")}, &console{out: &out, err: &out, instead: becomeMutants})
	if status != exitUsage || !strings.Contains(out.String(), "the mutants are in the program zkverify-mutants, which make build-mutants builds") {
		t.Errorf("exit %d, %s", status, out.String())
	}
}
