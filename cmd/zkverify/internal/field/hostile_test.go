package field

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/zkverify/zkverify/workload/campaign"
)

// results returns n results of the built-in field.
func results(t *testing.T, n int) (all []Result) {
	t.Helper()
	f, err := Of("")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range f.planned(nil, nil, 1, 1)[:n] {
		all = append(all, Result{Lock: p.Lock.id, Plan: p.Plan.Name, Result: campaign.Result{Seed: p.Seed, Command: p.Command()}})
	}
	return all
}

func savePart(t *testing.T, dir string, s State) {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, stateFile), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// The pages tell readers to type the commands of a field, so a part may not have other ones.
func TestAPartWithOtherCommandsIsRefused(t *testing.T) {
	for name, change := range map[string]func(r *Result){
		"none":            func(*Result) {},
		"a longer repeat": func(r *Result) { r.Again = []Repeats{{Of: 1, Command: longer(t)}} },
		"another":         func(r *Result) { r.Command = "touch forged" },
		"more":            func(r *Result) { r.Command += "; touch forged" },
		"another seed":    func(r *Result) { r.Seed++ },
		"another lock":    func(r *Result) { r.Lock = "a" },
		"another plan":    func(r *Result) { r.Plan = "p" },
		"of a repeat":     func(r *Result) { r.Again = []Repeats{{Of: 1, Command: "touch forged"}} },
		"more of it":      func(r *Result) { r.Again = []Repeats{{Of: 1, Command: longer(t) + ";touch"}} },
	} {
		part, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
		s := State{Version: "v1", Results: results(t, 1)}
		change(&s.Results[0])
		savePart(t, part, s)
		err := (&Merge{Parts: []string{part}, Out: out}).Run(t.Context(), io.Discard)
		if fine := name == "none" || name == "a longer repeat"; fine && err != nil || !fine && !errors.As(err, new(campaign.Refused)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// longer returns the command of a longer repeat of the first run.
func longer(t *testing.T) string {
	t.Helper()
	f, err := Of("")
	if err != nil {
		t.Fatal(err)
	}
	p := f.planned(nil, nil, 1, 1)[0]
	p.duration = 3 * time.Minute
	return p.Command()
}

// Folders that a state file names are copied, shown and removed, and the file may be untrusted. So
// they must lie directly below runs.
func TestAFieldThatNamesAnotherFolderIsRefused(t *testing.T) {
	for _, folders := range [][]string{
		{"../victim"}, {".."}, {"."}, {"runs"}, {"runs/"}, {"runs/.."}, {"runs/../../victim"}, {"runs/a/b"}, {"/etc"}, {`runs/..\x`},
		{"again/a"}, {"runs/\x1b[31m"}, {"runs/a\n"}, {"runs/a", "runs/a"},
	} {
		root := t.TempDir()
		part, victim := filepath.Join(root, "part"), filepath.Join(root, "victim")
		for _, dir := range []string{part, victim} {
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		s := State{Version: "v1"}
		for i, r := range results(t, len(folders)) {
			r.Folder = folders[i]
			s.Results = append(s.Results, r)
		}
		savePart(t, part, s)
		if _, err := load(part); err == nil {
			t.Errorf("%q: it is read", folders)
		}
		out := filepath.Join(root, "out")
		if err := (&Merge{Parts: []string{part}, Out: out}).Run(t.Context(), io.Discard); !errors.As(err, new(campaign.Refused)) {
			t.Errorf("%q: merge: %v", folders, err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%q: there is a folder of the whole", folders)
		}
		if _, err := os.Stat(victim); err != nil {
			t.Errorf("%q: %v", folders, err)
		}
	}
}
