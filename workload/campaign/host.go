package campaign

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/zkverify/zkverify/internal/seeded"
)

// memoryLimit is the memory that a process takes before it collects garbage: a collection makes
// the run inexact, but the machine must not run out of memory. A virtual minute of all recipes
// takes a tenth of it.
const memoryLimit = 4 << 30

// Host reads a request from in, calls do in the working directory, writes the answer to out,
// and ends the process. It refuses a request from a program of another version. Host must be
// called before anything else in the process. Package testing opens a bubble only for tests, so
// do gets one.
func Host[Asked, Answer any](version string, in io.Reader, out io.Writer, do func(*testing.T, Asked) (Answer, error)) {
	seeded.Prepare()
	debug.SetMemoryLimit(memoryLimit)
	os.Args = os.Args[:1] // package testing has flags of its own
	run := func(t *testing.T) {
		if err := serve(t, version, in, out, do); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "simulation", F: run}}, nil, nil)
}

func serve[Asked, Answer any](t *testing.T, version string, in io.Reader, out io.Writer, do func(*testing.T, Asked) (Answer, error)) error {
	var r asking[Asked]
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return fmt.Errorf("the run that is asked for: %w", err)
	}
	if r.Version != version {
		return fmt.Errorf("%s is of version %s, and %s asks for a run: build both again", os.Args[0], version, r.Version)
	}
	answer, err := do(t, r.Asked)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(answer)
}

// CPU returns the CPU time of this process.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
