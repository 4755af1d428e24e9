package field

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// What a field in a folder names may be copied, shown and removed, and the folder may be
// anybody's: all of it lies right below runs.
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
		for i, f := range folders {
			s.Results = append(s.Results, Result{Lock: "a", Plan: "p", Seed: int64(i), Folder: f})
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(part, stateFile), text, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := load(part); err == nil {
			t.Errorf("%q: it is read", folders)
		}
		out := filepath.Join(root, "out")
		if err := (&Merge{Parts: []string{part}, Out: out}).Run(t.Context(), io.Discard); !errors.As(err, new(Refused)) {
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
