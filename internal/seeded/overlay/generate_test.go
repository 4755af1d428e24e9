package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheOverlayFitsTheGoInUse(t *testing.T) {
	out := t.TempDir()
	if err := run(out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(out, "overlay.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range edits {
		if !strings.Contains(string(text), filepath.FromSlash(e.file)) {
			t.Errorf("overlay.json does not name %s", e.file)
		}
	}
}

func TestAVersionThatIsNotKnownIsRefused(t *testing.T) {
	goroot, _, err := toolchain()
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"go1.25.3", "go1.27", "go1.27rc1", "go1.260", "go1.26.8 X:jsonv2", "devel go1.26-abc", ""} {
		out := filepath.Join(t.TempDir(), "overlay")
		err := generate(goroot, version, out)
		if err == nil || !strings.Contains(err.Error(), version) || !strings.Contains(err.Error(), "go1.26") {
			t.Errorf("%q: %v", version, err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%q: something was written", version)
		}
	}
}

func TestATextThatOccursOtherwiseIsRefused(t *testing.T) {
	src := t.TempDir()
	writeFile(t, src, "runtime/select.go", "a cheaprandn(1); b cheaprandn(2)\n")
	for name, c := range map[string]struct {
		edit edit
		want string
	}{
		"it is gone":          {edit{"runtime/select.go", "lockorder", "x", 1}, `has 0 times, not 1, the text "lockorder"`},
		"it occurs once more": {edit{"runtime/select.go", "cheaprandn(", "randn(", 1}, `has 2 times, not 1, the text "cheaprandn("`},
		"the file is gone":    {edit{"runtime/rand.go", "x", "y", 1}, "rand.go"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := apply(src, "go1.26.99", []edit{c.edit})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "go1.26.99") || !strings.Contains(err.Error(), filepath.Base(c.edit.file)) {
				t.Errorf("%v, want %q, the version and the file", err, c.want)
			}
		})
	}
}

func TestACallOfTheCheapGeneratorThatIsNotCountedIsRefused(t *testing.T) {
	src := t.TempDir()
	writeFile(t, src, "runtime/chan.go", "package runtime\n// cheaprand()\nvar x = cheaprand64()\n")
	err := countCheap(src, "go1.26.99", nil)
	if err == nil || err.Error() != "go1.26.99: runtime/chan.go calls cheaprand 1 times, not 0" {
		t.Error(err)
	}
	if err := countCheap(src, "go1.26.99", map[string]string{"runtime/chan.go": ""}); err == nil {
		t.Error("calls that are gone were not missed")
	}
}

func writeFile(t *testing.T, src, name, text string) {
	t.Helper()
	path := filepath.Join(src, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
