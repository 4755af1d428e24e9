package overlay

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEditsOfOnePlaceDoNotDependOnEachOther(t *testing.T) {
	root := t.TempDir()
	path := writeFile(t, root, "a/f", "if free {\n\tgrant()\n}\n")
	first := Edit{File: "a/f", Old: "if free {", New: "if free || first {"}
	second := Edit{File: "a/f", Old: "if free {\n", New: "if free {\n\tsecond()\n"}
	third := Edit{File: "a/f", Old: "\tgrant()", New: "\tthird()\n\tgrant()"}
	const want = "if free || first {\n\tsecond()\n\tthird()\n\tgrant()\n}\n"
	for _, edits := range [][]Edit{{first, second, third}, {second, third, first}} {
		if got, err := Apply(root, edits); got[path] != want || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	again := Edit{File: "a/f", Old: "grant()", New: "refuse()"}
	for _, edits := range [][]Edit{{again, again}, {again, {File: "a/f", Old: "\tgrant()\n}"}}} {
		if got, err := Apply(root, edits); err == nil || !strings.Contains(err.Error(), "a/f: two edits of one place") {
			t.Errorf("%v: got %q, %v", edits, got, err)
		}
	}
}

func TestATextThatStandsThereOtherwiseIsRefused(t *testing.T) {
	root := t.TempDir()
	path := writeFile(t, root, "runtime/select.go", "a cheaprandn(1); b cheaprandn(2)\n")
	for name, c := range map[string]struct {
		edit Edit
		want string
	}{
		"it is gone":                     {Edit{"runtime/select.go", "lockorder", "x", 1}, `runtime/select.go has 0 times, not 1, the text "lockorder"`},
		"it stands there once more":      {Edit{"runtime/select.go", "cheaprandn(", "randn(", 1}, `has 2 times, not 1, the text "cheaprandn("`},
		"once, unless the edit says how": {Edit{File: "runtime/select.go", Old: "cheaprandn(", New: "randn("}, `has 2 times, not 1, the text "cheaprandn("`},
		"the file is gone":               {Edit{"runtime/rand.go", "x", "y", 1}, "rand.go"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Apply(root, []Edit{c.edit}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	got, err := Apply(root, []Edit{{"runtime/select.go", "cheaprandn(", "randn(", 2}})
	if want := "a randn(1); b randn(2)\n"; err != nil || got[path] != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

// A program is built with the written files, and the source stays as it is.
func TestAProgramIsBuiltWithTheFiles(t *testing.T) {
	root, folder := t.TempDir(), t.TempDir()
	writeFile(t, root, "go.mod", "module example.com/door\n\ngo 1.26\n")
	writeFile(t, root, "main.go", "package main\n\nfunc main() { println(\"shut\") }\n")
	files, err := Apply(root, []Edit{{File: "main.go", Old: `"shut"`, New: "state"}})
	if err != nil {
		t.Fatal(err)
	}
	files[filepath.Join(root, "state.go")] = "package main\n\nconst state = \"open\"\n"
	file, err := Write(folder, files)
	if err != nil {
		t.Fatal(err)
	}
	for want, flags := range map[string][]string{"shut\n": nil, "open\n": {"-overlay", file}} {
		run := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"run"}, flags, []string{"."})...)
		run.Dir = root
		if got, err := run.CombinedOutput(); err != nil || string(got) != want {
			t.Errorf("%v: %q, %v; want %q", flags, got, err, want)
		}
	}
}
