package overlay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestThereIsASeededRuntimeForTheGoInUse(t *testing.T) {
	files, err := Runtime(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	goroot, _, err := toolchain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range runtimeEdits {
		if path := filepath.Join(goroot, "src", filepath.FromSlash(e.File)); files[path] == "" {
			t.Errorf("%s is not replaced", path)
		}
	}
}

func TestAVersionThatIsNotKnownIsRefused(t *testing.T) {
	goroot, _, err := toolchain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"go1.25.3", "go1.27", "go1.27rc1", "go1.260", "go1.26.8 X:jsonv2", "devel go1.26-abc", ""} {
		files, err := generate(goroot, version)
		if err == nil || !strings.Contains(err.Error(), version) || !strings.Contains(err.Error(), "go1.26") || files != nil {
			t.Errorf("%q: %v, %d files", version, err, len(files))
		}
	}
}

func TestACallOfTheCheapGeneratorThatIsNotCountedIsRefused(t *testing.T) {
	src := t.TempDir()
	path := writeFile(t, src, "runtime/chan.go", "package runtime\n// cheaprand()\nvar x = cheaprand64()\n")
	err := countCheap(src, nil)
	if err == nil || err.Error() != "runtime/chan.go calls cheaprand 1 times, not 0" {
		t.Error(err)
	}
	if err := countCheap(src, map[string]string{path: ""}); err == nil {
		t.Error("calls that are gone were not missed")
	}
}

func writeFile(t *testing.T, root, name, text string) string {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
