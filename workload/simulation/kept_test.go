package simulation

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
)

func TestARunThatIsKeptSaysHowItIsMadeAgain(t *testing.T) {
	f, dir := fleet(t, "yes"), filepath.Join(t.TempDir(), "run")
	f.Made, f.Look = "zkverify v7, go1", Look{Until: 2 * time.Second, Trace: true}
	o, err := f.Run(t.Context(), spec(1, "edges", "recipes"), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "history.jsonl")} {
		k, err := ReadKept(path)
		if err != nil || k.Made != f.Made || k.Hash != o.Hash || k.Until != f.Look.Until || !reflect.DeepEqual(k.Spec, o.Spec) {
			t.Errorf("%+v, %v", k, err)
		}
	}
	if _, err := ReadKept(t.TempDir()); !errors.Is(err, fs.ErrNotExist) || IsKept(err) {
		t.Errorf("a folder without one: %v", err)
	}
	for text, says := range map[string]string{`{`: KeptFile, `{"spec":{"plan":"ramdom","target":"recipes"}}`: `did you mean "random"`} {
		if err := os.WriteFile(filepath.Join(dir, KeptFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadKept(dir); err == nil || !IsKept(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestASweepOfAnotherProgramIsNotGoneOnWith(t *testing.T) {
	path := filepath.Join(t.TempDir(), ResultsFile)
	const made = "zkverify v7, go1.26.1, linux/amd64, seeded runtime"
	s, err := OpenSweep(path, made, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add(Outcome{Spec: spec(1, "random", "recipes"), Outcome: verdict.Holds, Made: made}); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	for now, says := range map[string]string{
		made: "",
		"zkverify v8, go1.26.1, linux/amd64, stock runtime":  "zkverify v7 then, zkverify v8 now; seeded runtime then, stock runtime now",
		"zkverify v7, go1.27, linux/amd64, seeded runtime":   "go1.26.1 then, go1.27 now",
		"zkverify v7, go1.26.1, linux/arm64, seeded runtime": "linux/amd64 then, linux/arm64 now",
	} {
		for _, other := range []bool{false, true} {
			s, err := OpenSweep(path, now, other)
			if wrong := says != "" && !other; wrong != errors.Is(err, ErrOtherProgram) || wrong && !strings.HasSuffix(err.Error(), ": "+says) {
				t.Errorf("%s, %v: %v", now, other, err)
			}
			if err == nil {
				_ = s.Close()
			}
		}
	}
}
