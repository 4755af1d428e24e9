package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/report"
	"github.com/zkverify/zkverify/workload/campaign"
	"io"
)

// partOfNight makes the folder of a part of a night that has kept a run folder of each name.
func partOfNight(t *testing.T, dir, shard string, seeds int, names ...string) {
	t.Helper()
	n := &report.Night{Title: "recipes: mutex", Version: "v1", Started: time.Unix(100, 0), First: 1, Seeds: seeds, Shard: shard, Options: map[string]string{"faults": "all"}}
	first := int64(1)
	if shard == "2/2" {
		first = 2
	}
	for i, name := range names {
		n.Add(&report.NightResult{
			Seed: first + 2*int64(i), Target: "recipes", Outcome: verdict.Violated, Reason: "why", Folder: name,
			Cases: []report.Case{{Recipe: histories.Mutex, Guarantee: checker.Fencing, Outcome: verdict.Violated, Reason: "why"}},
		})
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := campaign.Save(dir, map[string]func(io.Writer) error{nightlyFile: campaign.JSON(n)}); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// allOf returns the paths and the contents of the files below a folder.
func allOf(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintln(&all, path, e.Type())
		if e.Type().IsRegular() {
			text, err := os.ReadFile(path)
			fmt.Fprintln(&all, string(text))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// A part of a night may be untrusted. The files that it names and contains are copied below --out
// or refused; no other file is read, written or removed; and a merge that fails changes nothing.
func TestAPartOfANightReachesNothingBeyondItsFolder(t *testing.T) {
	link := func(to, at string) func(*testing.T, string) {
		return func(t *testing.T, root string) {
			if err := errorsOf(os.MkdirAll(filepath.Dir(filepath.Join(root, at)), 0o755), os.Symlink(to, filepath.Join(root, at))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		names []string // of the first part
		set   func(t *testing.T, root string)
		seeds int
	}{
		"the folder itself":          {names: []string{"."}},
		"the folder above":           {names: []string{".."}},
		"another folder":             {names: []string{"../victim"}},
		"an absolute one":            {names: []string{"/etc"}},
		"one further down":           {names: []string{"seed-1/deep"}},
		"one of another system":      {names: []string{`..\victim`}},
		"words for a terminal":       {names: []string{"seed-1\x1b]0;x\a"}},
		"a line of its own":          {names: []string{"seed-1\n::error::x"}},
		"one that turns the writing": {names: []string{"seed-1\u202egnp.exe"}},
		"its own state":              {names: []string{nightlyFile}},
		"one name twice":             {names: []string{"seed-1", "seed-1"}},
		"one name in two parts":      {names: []string{"seed-2"}},
		"a link to a folder":         {names: []string{"seed-1"}, set: link("../victim", "a/seed-1")},
		"a link in a folder":         {names: []string{"seed-1"}, set: link("../../victim", "a/seed-1/away")},
		"a link to a file":           {names: []string{"seed-1"}, set: link("../../victim/secret", "a/seed-1/history.jsonl")},
		"a link that ends nowhere":   {names: []string{"seed-1"}, set: link("nowhere", "a/seed-1/x")},
		"a pipe": {names: []string{"seed-1"}, set: func(t *testing.T, root string) {
			if err := errorsOf(os.MkdirAll(filepath.Join(root, "a/seed-1"), 0o755), syscall.Mkfifo(filepath.Join(root, "a/seed-1/pipe"), 0o644)); err != nil {
				t.Fatal(err)
			}
		}},
		"a state that is a link": {names: []string{"seed-1"}, set: func(t *testing.T, root string) {
			if err := errorsOf(os.Rename(filepath.Join(root, "a", nightlyFile), filepath.Join(root, "victim", "n")), os.Symlink("../victim/n", filepath.Join(root, "a", nightlyFile))); err != nil {
				t.Fatal(err)
			}
		}},
		"a state that is a pipe": {names: []string{"seed-1"}, set: func(t *testing.T, root string) {
			at := filepath.Join(root, "a", nightlyFile)
			if err := errorsOf(os.Remove(at), syscall.Mkfifo(at, 0o644)); err != nil {
				t.Fatal(err)
			}
		}},
		"two billion seeds": {names: []string{"seed-1"}, seeds: 2_000_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			seeds := max(c.seeds, 4)
			partOfNight(t, filepath.Join(root, "a"), "1/2", seeds, c.names...)
			partOfNight(t, filepath.Join(root, "b"), "2/2", seeds, "seed-2")
			write(t, filepath.Join(root, "victim", "secret"), "secret")
			write(t, filepath.Join(root, "b", "seed-2", "history.jsonl"), "theirs")
			write(t, filepath.Join(root, "out", "mine"), "mine")
			if c.set != nil {
				c.set(t, root)
			}
			before := allOf(t, root)
			status, said, _ := inProcess(t, "nightly", "merge", filepath.Join(root, "a"), filepath.Join(root, "b"), "--out", filepath.Join(root, "out"))
			if status != exitUsage {
				t.Errorf("exit status %d: %s", status, said)
			}
			if strings.ContainsAny(said, "\x1b\a\u202e") || strings.Contains(said, "\n::") {
				t.Errorf("it says %q", said)
			}
			if after := allOf(t, root); after != before {
				t.Errorf("it has changed\n%s\nto\n%s", before, after)
			}
		})
	}
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestPartsOfANightAreMergedBesideWhatIsThere(t *testing.T) {
	root := t.TempDir()
	partOfNight(t, filepath.Join(root, "a"), "1/2", 2, "seed-1")
	partOfNight(t, filepath.Join(root, "b"), "2/2", 2, "seed-2")
	write(t, filepath.Join(root, "a", "seed-1", "logs", "server-1.log"), "one")
	write(t, filepath.Join(root, "b", "seed-2", "history.jsonl"), "two")
	write(t, filepath.Join(root, "out", "mine"), "mine")
	merge := func() (int, string) {
		status, said, _ := inProcess(t, "nightly", "merge", filepath.Join(root, "a"), filepath.Join(root, "b"), "--out", filepath.Join(root, "out"))
		return status, said
	}
	write(t, filepath.Join(root, "out", "seed-2", "mine"), "mine")
	if status, said := merge(); status != exitUsage || !strings.Contains(said, "seed-2 is there already") {
		t.Errorf("exit status %d: %s", status, said)
	}
	if err := os.RemoveAll(filepath.Join(root, "out", "seed-2")); err != nil {
		t.Fatal(err)
	}
	if status, said := merge(); status != 1 {
		t.Errorf("exit status %d: %s", status, said)
	}
	for at, want := range map[string]string{"mine": "mine", "seed-1/logs/server-1.log": "one", "seed-2/history.jsonl": "two"} {
		if text, err := os.ReadFile(filepath.Join(root, "out", at)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", at, text, err)
		}
	}
	if entries, _ := os.ReadDir(root); len(entries) != 3 {
		t.Errorf("left beside it: %v", entries)
	}
}
