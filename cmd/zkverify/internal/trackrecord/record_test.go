package trackrecord

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/workload/targets"
)

func builtInRecord(t *testing.T) *Record {
	t.Helper()
	r, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The mutants, workers, guarantees and faults that the built-in record names exist.
func TestTheBuiltInRecordNamesWhatThereIs(t *testing.T) {
	var guarantees []string
	for _, g := range checker.Guarantees() {
		guarantees = append(guarantees, g.Name)
	}
	for _, b := range builtInRecord(t).Bugs {
		if b.Mutant != "" && !slices.ContainsFunc(targets.Mutants(), func(m targets.Mutant) bool { return m.Name() == b.Mutant }) {
			t.Errorf("%s: %s is no mutant", b.ID, b.Mutant)
		}
		if b.Run == nil {
			continue
		}
		for _, g := range b.Run.Guarantees {
			if !slices.Contains(guarantees, g) {
				t.Errorf("%s: no guarantee is called %q", b.ID, g)
			}
		}
		if i := slices.Index(b.Run.Options, "--worker-command"); i >= 0 {
			program, _, _ := strings.Cut(b.Run.Options[i+1], " ")
			if _, err := os.Stat(filepath.Join("../../../..", program)); err != nil {
				t.Errorf("%s: %v", b.ID, err)
			}
		}
		if _, err := nemesis.ReadYAML(strings.NewReader(b.Run.Schedule), faults.List()); b.Run.Schedule != "" && err != nil {
			t.Errorf("%s: its schedule: %v", b.ID, err)
		}
	}
}

func TestARecordThatCannotBe(t *testing.T) {
	const good = "bugs:\n  - {id: A, what: it is wrong, versions: all, mutant: mutant-never-told}\n"
	if _, err := read([]byte(good)); err != nil {
		t.Fatal(err)
	}
	const accused = "bugs:\n  - {id: A, what: it is wrong, versions: all, with: it, needs: it, source: [\"a.c:1\"], "
	for name, c := range map[string]struct{ text, says string }{
		"an unknown field":         {strings.Replace(good, "what", "waht", 1), `unknown field "waht"`},
		"two of a name":            {good + strings.TrimPrefix(good, "bugs:\n"), "two bugs are called A"},
		"no script":                {strings.Replace(good, ", mutant: mutant-never-told", "", 1), "one of run, steps, mutant and not_had"},
		"two scripts":              {strings.Replace(good, "mutant:", "not_had: why, mutant:", 1), "one of run, steps, mutant and not_had"},
		"an accusation alone":      {strings.Replace(good, "mutant: mutant-never-told", "run: {options: [--locks, \"1\"], guarantees: [progress]}", 1), "an accusation needs source"},
		"a run of nothing":         {accused + "run: {options: [], guarantees: [progress]}}", "options and guarantees"},
		"a fault that is none":     {accused + "run: {options: [-v], guarantees: [progress], faults: [donw]}}", "down"},
		"a step that is none":      {accused + "steps: {zookeeper: 3.9.3, shows: trees differ, steps: [{do: jump}]}}", `no step is called "jump"`},
		"a step without a server":  {accused + "steps: {zookeeper: 3.9.3, shows: trees differ, steps: [{do: kill}]}}", "step 1: kill names other servers"},
		"a server that is none":    {accused + "steps: {zookeeper: 3.9.3, shows: trees differ, steps: [{do: kill, server: third}]}}", "a server is one of"},
		"a number that is missing": {accused + "steps: {zookeeper: 3.9.3, shows: trees differ, steps: [{do: write, server: first}]}}", "write has n: true"},
		"a text that is missing":   {accused + "steps: {zookeeper: 3.9.3, shows: trees differ, steps: [{do: await, server: first}]}}", "await has a text: true"},
		"proposals by no session":  {accused + "steps: {zookeeper: 3.9.3, shows: trees differ, steps: [{do: propose, server: leader, n: 1}]}}", "step 1: one step connect"},
		"steps that show nothing":  {accused + "steps: {zookeeper: 3.9.3, shows: smoke, steps: [{do: rest}]}}", `steps cannot show "smoke"`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := read([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v; want %q", err, c.says)
			}
		})
	}
}
