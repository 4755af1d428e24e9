package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

// A project of each language passes worker check as it is. When its lock excludes no client, a run
// finds it out.
func TestAWorkerProjectIsRightUntilItsLockIsBroken(t *testing.T) {
	for lang, broken := range map[string]struct{ lock, line, change string }{
		"python": {"kazoo_lock.py", `self.zk.Lock(self.path(name)`, `self.zk.Lock(self.path(name) + "-%d" % self.number`},
		"java":   {"zookeeper/Lock.java", `String path = client.path(command.text("lock"));`, `String path = client.path(command.text("lock")) + "-" + command.id;`},
		"go":     {"mylock/mylock.go", `c.Connection, l.lock.Lock, late`, `c.Connection, func() error { return nil }, late`},
	} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			switch lang { // each skips the test where it cannot run
			case "python":
				kazooWorker(t)
			case "java":
				ensembletest.EveryNight(t)
				javaWorker(t, "zookeeper/zookeeper_worker")
			case "go":
				ensembletest.EveryNight(t)
			}
			dir := filepath.Join(t.TempDir(), "project")
			status, said, _ := inProcess(t, "worker", "new", "--lang", lang, dir)
			_, program, found := strings.Cut(strings.TrimSpace(said), "--worker-command ")
			if status != exitHolds || !found {
				t.Fatalf("exit status %d:\n%s", status, said)
			}
			buildProject(t, lang, dir, program)
			if status, said, _ := inProcess(t, "worker", "check", "--ensemble", ensembletest.Kind(t), program); status != exitHolds {
				t.Fatalf("exit status %d:\n%s", status, said)
			}
			replaceIn(t, filepath.Join(dir, broken.lock), broken.line, broken.change)
			buildProject(t, lang, dir, program)
			status, said, _ = inProcess(t, "run", "--ensemble", ensembletest.Kind(t), "--workers", "2", "--worker-command", program, "--clients", "4", "--locks", "1",
				"--duration", "3s", "--faults", "none", "--seed", "1", "--out", filepath.Join(t.TempDir(), "run"))
			if status != exitViolated || !strings.Contains(said, "both held lock") {
				t.Errorf("exit status %d:\n%s", status, said)
			}
		})
	}
}

// buildProject builds the program of a project in Go, on this tree and with nothing from elsewhere.
func buildProject(t *testing.T, lang, dir, program string) {
	t.Helper()
	if lang != "go" {
		return
	}
	tree, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(tree, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"mod", "edit", "-replace", module + "=" + tree},
		{"build", "-mod=mod", "-o", program, "."},
		{"vet", "-mod=mod", "./..."},
	} {
		build := exec.Command("go", append([]string{"-C", dir}, args...)...)
		build.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go %q: %v: %s", args, err, out)
		}
	}
}

func replaceIn(t *testing.T, file, line, change string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil || strings.Count(string(text), line) != 1 {
		t.Fatalf("%s has no %q, or several: %v", file, line, err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), line, change, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
}

// In a Go module the project is a part of it.
func TestAWorkerProjectInAGoModule(t *testing.T) {
	module := t.TempDir()
	if err := os.WriteFile(filepath.Join(module, "go.mod"), []byte("module example.org/shop\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(module, "with a space", "lock")
	status, said, _ := inProcess(t, "worker", "new", "--lang", "go", dir)
	text, err := os.ReadFile(filepath.Join(dir, "main.go"))
	if status != exitHolds || err != nil || !strings.Contains(string(text), `"example.org/shop/with a space/lock/mylock"`) {
		t.Errorf("exit status %d, %v:\n%s\n%s", status, err, said, text)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		t.Error("the project has a go.mod of its own")
	}
	if want := `go -C '` + dir + `' build`; !strings.Contains(said, want) {
		t.Errorf("no %q in\n%s", want, said)
	}
}

func TestAWorkerProjectIsRefused(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ lang, dir, want string }{
		{"python", full, full + " is not empty: name a new folder"},
		{"python", filepath.Join(full, "mine"), "not a directory"},
		{"go", filepath.Join(full, "mine", "below"), "not a directory"},
		{"rust", filepath.Join(full, "new"), `there is no "rust" (known: go, java, python)`},
	} {
		status, said, _ := inProcess(t, "worker", "new", "--lang", c.lang, c.dir)
		if status != exitUsage || !strings.Contains(said, c.want) {
			t.Errorf("exit status %d, no %q in\n%s", status, c.want, said)
		}
	}
	if entries, err := os.ReadDir(full); err != nil || len(entries) != 1 {
		t.Errorf("files were written: %v %v", entries, err)
	}
}

// A tool that is missing is a remark: the project is made.
func TestAWorkerProjectWithoutItsTool(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var said strings.Builder
	status := zkverify([]string{"worker", "new", "--lang", "java", filepath.Join(t.TempDir(), "lock")}, &console{out: io.Discard, err: &said})
	if status != exitHolds || !strings.Contains(said.String(), "There is no javac: install a JDK") {
		t.Errorf("exit status %d:\n%s", status, said.String())
	}
}
