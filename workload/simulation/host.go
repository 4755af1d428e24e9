package simulation

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/zkverify/zkverify/internal/seeded"
)

// request is what a Fleet tells a process, as JSON on its standard input. Its length is the
// same for the same Spec: it lies on the heap.
type request struct {
	Version string `json:"version"`
	Spec    Spec   `json:"spec"`
	Until   string `json:"until"` // ns, always as many digits
	Trace   int    `json:"trace"` // 0 or 1
}

// memoryLimit is what a process takes before it collects garbage: rather a run that is not
// exact than a machine without memory. A virtual minute of all recipes takes a tenth.
const memoryLimit = 4 << 30

// Host carries out the one run that is asked for on in, in the working directory, writes
// its Outcome to out, and ends the process. A version is refused that is not that of the
// program which asks. Host is called before anything else in the process. Package testing
// opens a bubble for tests alone, so the run is one.
func Host(version string, in io.Reader, out io.Writer) {
	seeded.Prepare()
	debug.SetMemoryLimit(memoryLimit)
	os.Args = os.Args[:1] // package testing has flags of its own
	run := func(t *testing.T) {
		if err := serve(t, version, in, out); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "simulation", F: run}}, nil, nil)
}

func serve(t *testing.T, version string, in io.Reader, out io.Writer) error {
	var r request
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return fmt.Errorf("the run that is asked for: %w", err)
	}
	if r.Version != version {
		return fmt.Errorf("%s is of version %s, and %s asks for a run: build both again", os.Args[0], version, r.Version)
	}
	until, err := strconv.ParseInt(r.Until, 10, 64)
	if err != nil {
		return fmt.Errorf("until: %w", err)
	}
	seeded.Seed(uint64(r.Spec.Seed))
	o, err := Run(t, ".", r.Spec, Look{time.Duration(until), r.Trace == 1})
	if err != nil {
		return err
	}
	o.CPU = used()
	return json.NewEncoder(out).Encode(o)
}

// used is the CPU time of this process.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
