package seeded_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/internal/overlay"
	"github.com/zkverify/zkverify/internal/seeded"
)

const traceProgram = "github.com/zkverify/zkverify/internal/seeded/testdata/trace"

// TestASeedRepeatsInEveryProcess compiles the standard library a second time, which takes
// some 15 s of CPU unless it is in the build cache. It is skipped with -short for that
// reason.
func TestASeedRepeatsInEveryProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the runtime")
	}
	t.Parallel()
	program := build(t, true)
	// The other processes run side by side, on busy processors, where a scheduler that follows
	// the clock chooses other orders.
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	for range 4 {
		load.Go(func() {
			for ctx.Err() == nil {
			}
		})
	}
	defer load.Wait()
	defer stop()
	one := traces(t, program, 1, 20)
	for i, got := range one {
		if got != one[0] {
			t.Errorf("process %d of seed 1 saw\n%s\nthe first one\n%s", i, got, one[0])
		}
	}
	if t.Failed() {
		return
	}
	two := traces(t, program, 3, 2)
	if two[0] != two[1] {
		t.Errorf("two processes of seed 3 saw\n%s\nand\n%s", two[0], two[1])
	}
	for _, scene := range []string{"draws", "maps", "selects", "timers", "pairs", "contexts", "mutexes", "wakes", "pauses"} {
		if a, b := line(t, one[0], scene), line(t, two[0], scene); a == b {
			t.Errorf("the seed decides nothing of %s", scene)
		}
	}
}

// Without the overlay every kind of choice that the seed decides differs: the test above
// compares values that can differ.
func TestStockGoDoesNotRepeat(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	t.Parallel()
	got := traces(t, build(t, false), 1, 2)
	for _, scene := range []string{"draws", "maps", "selects", "timers", "contexts", "mutexes"} {
		if a, b := line(t, got[0], scene), line(t, got[1], scene); a == b {
			t.Errorf("two processes made the same choices of %s", scene)
		}
	}
}

func TestStockGoIsNotExact(t *testing.T) {
	if seeded.Exact() {
		t.Error("this test's runtime calls itself seeded")
	}
	seeded.Seed(1)
}

// The tag alone must not make a program that claims to repeat.
func TestTheTagWithoutTheOverlayDoesNotLink(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	t.Parallel()
	out, err := goBuild(t, "-tags", "seeded", "-o", filepath.Join(t.TempDir(), "trace"), traceProgram)
	if err == nil || !strings.Contains(out, "runtimeSeed") {
		t.Errorf("go build: %v\n%s", err, out)
	}
}

// build returns the path of the trace program.
func build(t *testing.T, exact bool) string {
	t.Helper()
	p := overlay.Program{Main: traceProgram, Seeded: exact, Out: filepath.Join(t.TempDir(), "trace")}
	start := time.Now()
	if err := p.Build(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Logf("built in %v", time.Since(start).Round(time.Millisecond))
	return p.Out
}

func goBuild(t *testing.T, args ...string) (string, error) {
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"build"}, args...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// traces returns the output of n processes, four of which run at a time.
func traces(t *testing.T, program string, seed, n int) []string {
	t.Helper()
	all, errs := make([]string, n), make([]error, n)
	slots := make(chan struct{}, 4)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			cmd := exec.CommandContext(t.Context(), program)
			cmd.Env = append(seeded.Environ(), fmt.Sprintf("SEED=%020d", seed))
			var out []byte
			out, errs[i] = cmd.CombinedOutput()
			all[i] = string(out)
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatalf("%v\n%s", err, all[i])
		}
	}
	return all
}

// line returns the line of a scene in a trace.
func line(t *testing.T, trace, scene string) string {
	t.Helper()
	for l := range strings.Lines(trace) {
		if strings.HasPrefix(l, scene+"=") {
			return l
		}
	}
	t.Fatalf("no %s in %q", scene, trace)
	return ""
}
