package mutate

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

// TestMutantsOfAProgram runs a program with each of its mutants.
func TestMutantsOfAProgram(t *testing.T) {
	dir := t.TempDir()
	source, err := os.ReadFile("testdata/small.txt")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "go.mod", "module example.com/small\n\ngo 1.26\n")
	write(t, dir, "small/main.go", string(source))
	p, err := load(t.Context(), dir, "./small")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	program, err := p.Build(t.Context(), folder, "./small", false)
	if err != nil {
		t.Fatal(err)
	}
	const unchanged = "5 of 5: [1 2 3 4 5] not found open closed\n"
	if got, reached := runMutant(t, program, 0); got != unchanged || reached != nil {
		t.Fatalf("with no mutant on it prints %q, reached %v", got, reached)
	}
	got, probed := runMutant(t, program, Probe)
	if got != unchanged {
		t.Fatalf("while it is probed it prints %q", got)
	}
	want := map[string]struct {
		prints  string
		reached bool
	}{
		"small.count relational: n < most → n <= most":                                     {"6 of 5: [1 2 3 4 5 6] not found open closed\n", true},
		"small.count drop: all = append(all, n+1) → ":                                      {"5 of 5: [] not found open closed\n", true},
		"small.main constant: 5 → 1":                                                       {"1 of 5: [1] not found open closed\n", true},
		"small.search swallow: return errNone → nil for errNone":                           {"5 of 5: [1 2 3 4 5] <nil> open closed\n", true},
		"small.door swap: say(\"open\"); say(\"closed\") → say(\"closed\"); say(\"open\")": {"5 of 5: [1 2 3 4 5] not found closed open\n", true},
		"small.search branch: if key == 7 → if false":                                      {unchanged, false},
		"small.search bool: false → true":                                                  {unchanged, false},
	}
	for _, m := range p.Mutants {
		w, ok := want[m.Key()]
		if !ok {
			continue
		}
		delete(want, m.Key())
		got, reached := runMutant(t, program, m.Number)
		if got != w.prints || slices.Contains(reached, m.Number) != w.reached {
			t.Errorf("%s prints %q, reached %v; not %q, %v", m.Key(), got, reached, w.prints, w.reached)
		}
		if slices.Contains(probed, m.Number) != w.reached {
			t.Errorf("the probe says %v of %s, not %v", !w.reached, m.Key(), w.reached)
		}
	}
	for key := range want {
		t.Errorf("there is no mutant %s", key)
	}
}

// runMutant returns the output of a program, and the numbers of the mutants that it has
// reached.
func runMutant(t *testing.T, program string, number int) (string, []int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "reached")
	run := exec.CommandContext(t.Context(), program)
	run.Env = append(os.Environ(), EnvMutant+"="+strconv.Itoa(number), EnvReached+"="+file)
	out, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(file) //nolint:errcheck // nothing was reached
	var reached []int
	for _, line := range strings.Fields(string(text)) {
		n, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		reached = append(reached, n)
	}
	return string(out), reached
}

// TestMutantsOfRecipes builds zkverify with all of them.
func TestMutantsOfRecipes(t *testing.T) {
	ensembletest.EveryNight(t)
	p, err := Load(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	program, err := p.Build(t.Context(), t.TempDir(), "./cmd/zkverify", true)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := runMutantHelp(t, program); !strings.Contains(got, "zkverify") {
		t.Errorf("it prints %q", got)
	}
	if share := float64(len(p.Mutants)) / float64(len(p.Mutants)+len(p.Rejected)); share < 0.95 {
		t.Errorf("%.0f %% of the mutants compile", 100*share)
	}
}

func runMutantHelp(t *testing.T, program string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, "version").CombinedOutput()
	return string(out), err
}

// recipes returns the mutants of the recipes, which take a while to be found.
var recipes = sync.OnceValues(func() (*Program, error) { return Load(context.Background(), ".") })

// TestKeys requires that each mutant of recipes has a key of its own.
func TestKeys(t *testing.T) {
	p, err := recipes()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]Mutant{}
	for _, m := range p.Mutants {
		if other, ok := seen[m.Key()]; ok {
			t.Errorf("%s\nand %s\nhave the key %s", other, m, m.Key())
		}
		seen[m.Key()] = m
	}
}

// TestNoSource expects an error that names the missing source, or the missing go command.
func TestNoSource(t *testing.T) {
	if _, err := Load(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "no source of "+module) {
		t.Errorf("without source: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Load(t.Context(), "."); err != ErrNoGo {
		t.Errorf("without the go command: %v", err)
	}
}
