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

// said runs a command, and returns its exit status and its outputs. It runs the program as
// users have it, without the race detector: Go's type checker takes seconds for all
// mutants, and minutes with the race detector.
func said(t *testing.T, env []string, args ...string) (status int, out, err string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), filepath.Join(program(t), "zkverify"), args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

func TestMutantsAreListed(t *testing.T) {
	ensembletest.EveryNight(t)
	t.Parallel()
	status, out, err := said(t, nil, "mutate", "--list", "--operator", "drop", "--filter", `hold\.go:\d+: \(\*hold\)\.Lose: `)
	if status != exitHolds || !strings.Contains(out, "(*hold).Lose: drop: close(h.lost) → ") || strings.Contains(out, "atDeadline") || strings.Contains(out, "swap") {
		t.Errorf("exit %d:\n%s%s", status, out, err)
	}
	status, out, _ = said(t, nil, "mutate", "--list", "--keys", "--filter", `recipes/hold\.go.*drop: close\(h\.lost\)`)
	if want := "recipes.(*hold).Lose drop: close(h.lost) → \n"; status != exitHolds || out != want {
		t.Errorf("exit %d: keys are %q, not %q", status, out, want)
	}
}

func TestWhatMutateCannotDo(t *testing.T) {
	nowhere := t.TempDir()
	for _, c := range []struct {
		name   string
		args   []string
		status int
		says   string
	}{
		{"no source", []string{"--source", nowhere}, exitUnavailable, "no source of " + module},
		{"a filter that is none", []string{"--filter", "("}, exitUsage, "--filter: "},
		{"an unknown operator", []string{"--operator", "dorp"}, exitUsage, `unknown operator "dorp": did you mean "drop"?`},
		{"no seeds", []string{"--seeds", "0"}, exitUsage, "--seeds must be at least 1"},
		{"keys without a list", []string{"--keys"}, exitUsage, "--keys goes with --list"},
		{"no mutant", []string{"--filter", "no such code"}, exitUsage, "no mutant is chosen"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			status, out, err := said(t, nil, append([]string{"mutate"}, c.args...)...)
			if status != c.status || !strings.Contains(err, c.says) {
				t.Errorf("exit %d:\n%s%s", status, out, err)
			}
		})
	}
	t.Run("no go command", func(t *testing.T) {
		t.Parallel()
		if status, _, err := said(t, []string{"PATH=" + nowhere}, "mutate"); status != exitUnavailable || !strings.Contains(err, "the go command is not on the PATH") {
			t.Errorf("exit %d: %s", status, err)
		}
	})
}

// TestMutantsAreTried tries a mutant that every run kills and one that no run can kill,
// and continues a folder of results.
func TestMutantsAreTried(t *testing.T) {
	ensembletest.EveryNight(t)
	if testing.Short() {
		t.Skip("builds zkverify and makes runs of seconds")
	}
	t.Parallel()
	dir := t.TempDir()
	args := []string{"mutate", "--seeds", "1", "--alone", "1", "--seed", "3", "--duration", "3s", "--out", dir, "--filter", `GUIDOf: negate: !strings|Token\.String: `}
	status, out, err := said(t, nil, args...)
	if status != exitHolds && status != exitViolated || !strings.Contains(out, "killed by runs: ") {
		t.Fatalf("exit %d:\n%s%s", status, out, err)
	}
	before, readErr := os.ReadFile(filepath.Join(dir, mutantsFile))
	if readErr != nil {
		t.Fatal(readErr)
	}
	again, repeated, _ := said(t, nil, args...)
	after, readErr := os.ReadFile(filepath.Join(dir, mutantsFile))
	if readErr != nil {
		t.Fatal(readErr)
	}
	if again != status || repeated != out || !bytes.Equal(before, after) {
		t.Errorf("again: exit %d\n%s\nfirst:\n%s", again, repeated, out)
	}
	if status, _, err := said(t, nil, append(args, "--seeds", "2")...); status != exitUsage || !strings.Contains(err, "are of another program or other runs") {
		t.Errorf("with other seeds: exit %d: %s", status, err)
	}
}
