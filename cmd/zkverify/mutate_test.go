package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// said runs a command, and returns its exit status and what it writes.
func said(args ...string) (status int, out, err string) {
	var stdout, stderr bytes.Buffer
	status = zkverify(args, &console{out: &stdout, err: &stderr})
	return status, stdout.String(), stderr.String()
}

func TestMutantsAreListed(t *testing.T) {
	status, out, err := said("mutate", "--list", "--operator", "drop", "--filter", `hold\.go:\d+: \(\*hold\)\.Lose: `)
	if status != exitHolds || !strings.Contains(out, "(*hold).Lose: drop: close(h.lost) → ") || strings.Contains(out, "atDeadline") || strings.Contains(out, "swap") {
		t.Errorf("exit %d:\n%s%s", status, out, err)
	}
	status, out, _ = said("mutate", "--list", "--keys", "--filter", `recipes/hold\.go.*drop: close\(h\.lost\)`)
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
			status, out, err := said(append([]string{"mutate"}, c.args...)...)
			if status != c.status || !strings.Contains(err, c.says) {
				t.Errorf("exit %d:\n%s%s", status, out, err)
			}
		})
	}
	t.Run("no go command", func(t *testing.T) {
		t.Setenv("PATH", nowhere)
		if status, _, err := said("mutate"); status != exitUnavailable || !strings.Contains(err, "the go command is not on the PATH") {
			t.Errorf("exit %d: %s", status, err)
		}
	})
}

// TestMutantsAreTried tries one that every run kills and one that no run can, and goes
// on with what it has begun.
func TestMutantsAreTried(t *testing.T) {
	if testing.Short() {
		t.Skip("builds zkverify and makes runs of seconds")
	}
	dir := t.TempDir()
	args := []string{"mutate", "--seeds", "1", "--alone", "1", "--seed", "3", "--duration", "3s", "--out", dir, "--filter", `GUIDOf: negate: !strings|Token\.String: `}
	status, out, err := said(args...)
	if status != exitHolds && status != exitViolated || !strings.Contains(out, "killed by runs: ") {
		t.Fatalf("exit %d:\n%s%s", status, out, err)
	}
	before, readErr := os.ReadFile(filepath.Join(dir, mutantsFile))
	if readErr != nil {
		t.Fatal(readErr)
	}
	again, repeated, _ := said(args...)
	after, readErr := os.ReadFile(filepath.Join(dir, mutantsFile))
	if readErr != nil {
		t.Fatal(readErr)
	}
	if again != status || repeated != out || !bytes.Equal(before, after) {
		t.Errorf("again: exit %d\n%s\nfirst:\n%s", again, repeated, out)
	}
	if status, _, err := said(append(args, "--seeds", "2")...); status != exitUsage || !strings.Contains(err, "are of another program or other runs") {
		t.Errorf("with other seeds: exit %d: %s", status, err)
	}
}
