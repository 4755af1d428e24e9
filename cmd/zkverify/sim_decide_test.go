package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/simulation"
)

// A mutant leaves a second node behind when the answer to its create is lost. All answers to a
// client are lost for a tenth of a second, so what decides is how long it rests after its last
// release before that.
func TestTheChoiceThatDecidedAViolationIsFound(t *testing.T) {
	ensembletest.EveryNight(t)
	t.Parallel()
	program, dir := buildSeeded(t), t.TempDir()
	faults, out := filepath.Join(dir, "faults.yaml"), filepath.Join(dir, "out")
	if err := os.WriteFile(faults, []byte("faults:\n  - {at: 2s, for: 100ms, fault: replies-lost, client: 0}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	args := strings.Fields("sim --target mutant-second-node --from 1 --seeds 60 --duration 5s --clients 3 --locks 1 --schedule " + faults + " --out " + out)
	said, _ := exec.CommandContext(t.Context(), program, args...).Output()
	files, err := filepath.Glob(filepath.Join(out, "seed-*", simulation.KeptFile))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, no run is kept:\n%s", err, said)
	}
	found := 0
	for _, file := range files {
		var kept, small simulation.Kept
		readJSON(t, file, &kept)
		d := kept.Decided
		if d == nil || len(d.Intervals) == 0 {
			continue
		}
		decided := filepath.Join(filepath.Dir(file), simulation.DecidedFolder)
		readJSON(t, filepath.Join(decided, simulation.KeptFile), &small)
		released, lost := decisive(t, filepath.Join(decided, simulation.TraceFile))
		for _, in := range d.Intervals {
			t.Logf("%s: from %v, of which %d of %d violate, to %v, %d of %d; released %v, lost %v", file, in.From.Time, in.From.Violated, in.From.Of, in.To.Time, in.To.Violated, in.To.Of, released, lost)
			if in.From.Time <= lost && in.To.Time >= released {
				found++
			} else {
				t.Errorf("%s: the interval does not have the choice", file)
			}
		}
		branches(t, program, small, d.Messages)
		told, err := exec.CommandContext(t.Context(), program, "explain", filepath.Dir(file)).CombinedOutput()
		if err != nil || !strings.Contains(string(told), d.Intervals[0].Between[0]) || !strings.Contains(string(said), d.Intervals[0].Between[0]) {
			t.Errorf("explain, %v:\n%s\nsim:\n%s", err, told, said)
		}
	}
	if found == 0 {
		t.Errorf("no choice was found:\n%s", said)
	}
}

// decisive returns the times of the first lost answer to a create of client 0, and of the answer to
// its last delete before.
func decisive(t *testing.T, path string) (released, lost time.Duration) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	answers := regexp.MustCompile(`^ *([0-9.]+) s +[0-9]+  server \d tells client 0: (delete|create) .*/locks/`)
	for line := range strings.Lines(string(text)) {
		m := answers.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		seconds, _ := strconv.ParseFloat(m[1], 64)
		at := time.Duration(seconds * float64(time.Second))
		if m[2] == "delete" {
			released = at
		} else if strings.Contains(line, "(it is lost)") {
			return released, at
		}
	}
	t.Fatalf("%s: no create whose answer is lost", path)
	return 0, 0
}

// branches resumes a run at its beginning, in the middle and at its end, and in the middle without
// other choices.
func branches(t *testing.T, program string, k simulation.Kept, messages int) {
	t.Helper()
	version, err := exec.CommandContext(t.Context(), program, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	f := simulation.Fleet{Subprocess: campaign.Subprocess{Command: []string{program, simRun}, Version: strings.TrimSpace(string(version)), Seeded: true}}
	for b, same := range map[simulation.Branch]bool{{Message: messages / 2}: true, {Message: messages, Seed: 7}: true, {Seed: 7}: false, {Message: messages / 20, Seed: 7}: false} {
		f.Look = simulation.Look{Until: k.Until, Branch: b}
		o, err := f.Run(t.Context(), k.Spec, t.TempDir())
		if err != nil || o.Trouble != "" || (o.Hash == k.Hash) != same || same && len(o.Violated) == 0 {
			t.Errorf("%+v: the same run: %v, violated: %v, %v %s", b, o.Hash == k.Hash, o.Violated, err, o.Trouble)
		}
	}
}

func readJSON(t *testing.T, path string, to any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}
