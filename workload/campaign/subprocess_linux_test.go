package campaign

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// computeEnv makes this test program compute for so many milliseconds of a processor, all such
// programs on the same one.
const computeEnv = "ZKVERIFY_TEST_COMPUTE"

func TestMain(m *testing.M) {
	if ms, err := strconv.Atoi(os.Getenv(computeEnv)); err == nil {
		compute(time.Duration(ms) * time.Millisecond)
	}
	goleak.VerifyTestMain(m)
}

func compute(d time.Duration) {
	runtime.LockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		panic(err)
	}
	cpu := 0
	for !all.IsSet(cpu) {
		cpu++
	}
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		panic(err)
	}
	for CPU() < d {
	}
	os.Stdout.WriteString("1\n")
	os.Exit(0)
}

func ask(t *testing.T, ms int, patience time.Duration) error {
	p := Subprocess{Command: []string{os.Args[0]}, Patience: patience, Environ: []string{computeEnv + "=" + strconv.Itoa(ms), "GORACE=atexit_sleep_ms=0"}}
	var answer int
	return p.Ask(t.Context(), t.TempDir(), 0, &answer)
}

// Four programs that share a processor take four times as long as each computes.
func TestAProgramThatHasNoProcessorIsWaitedFor(t *testing.T) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := ask(t, 600, 1500*time.Millisecond); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestAProgramThatDoesNotEndIsEnded(t *testing.T) {
	err := ask(t, 1_000_000, 2*time.Second)
	f, ok := errors.AsType[*Failure](err)
	if !ok || !strings.Contains(f.Reason, "did not end within 2s") || !strings.Contains(string(f.Printed), "goroutine ") {
		t.Errorf("got %v", err)
	}
}
