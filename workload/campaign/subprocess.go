package campaign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/zkverify/zkverify/internal/seeded"
)

// Subprocess carries out requests, each in a process of its own, on a Go runtime that may be
// seeded: the caller writes the request as JSON to the standard input of the process, and reads
// the answer from its standard output.
type Subprocess struct {
	// Command starts a process that calls Host with this Version.
	Command []string
	Version string
	Seeded  bool // its Go runtime is seeded, see package seeded
	// Patience is the real time that a process may take, without the time for which it has no
	// processor: a process that does not end has a goroutine that waits for something outside
	// of its bubble. 0: five minutes.
	Patience time.Duration

	Environ []string // additional environment of the processes
}

// StacksFile is the name of a file with the Printed of a Failure.
const StacksFile = "goroutines.txt"

// Failure is the error of a process that has not answered.
type Failure struct {
	Reason  string // in words
	Printed []byte // by the process: mostly the stacks of its goroutines
}

// Error implements error.
func (f *Failure) Error() string { return f.Reason }

// asking is the request to a process. Its length is the same for the same question: it lies on
// the heap, and addresses influence the run too.
type asking[T any] struct {
	Version string `json:"version"`
	Asked   T      `json:"asked"`
}

// Ask starts a process in dir, which exists, sends it the request, and writes its answer to
// answer, a pointer. The error is a *Failure if the process fails or does not end, and the
// cause of ctx's end if ctx ends.
func (p Subprocess) Ask(ctx context.Context, dir string, asked, answer any) error {
	text, err := json.Marshal(asking[any]{p.Version, asked})
	if err != nil {
		return err
	}
	patience := p.Patience
	if patience == 0 {
		patience = 5 * time.Minute
	}
	late, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var out, stderr bytes.Buffer
	cmd := exec.CommandContext(late, p.Command[0], p.Command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(seeded.Environ(), "GOMAXPROCS=1", "GOGC=off", "GOTRACEBACK=all")
	cmd.Env = append(cmd.Env, p.Environ...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), &out, &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // it prints its goroutines
	cmd.WaitDelay = 5 * time.Second
	if err = cmd.Start(); err == nil {
		over := make(chan struct{})
		go func() { // ends with the process
			if outlasts(cmd.Process.Pid, patience, over) {
				stop(errLate)
			}
		}()
		err = cmd.Wait()
		close(over)
	}
	if err == nil {
		err = json.NewDecoder(&out).Decode(answer)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case context.Cause(late) == errLate:
		return &Failure{fmt.Sprintf("it did not end within %v; %s says which goroutine waits where", patience, StacksFile), stderr.Bytes()}
	}
	return &Failure{reasonOf(err, stderr.String()), stderr.Bytes()}
}

var errLate = errors.New("it takes too long")

// outlasts waits until a process is over, or has taken longer than patience. It reports true in
// the second case.
func outlasts(pid int, patience time.Duration, over <-chan struct{}) bool {
	for began, left := time.Now(), patience; left > 0; left = patience - time.Since(began) + starved(pid) {
		select {
		case <-over:
			return false
		case <-time.After(max(left, 10*time.Millisecond)):
		}
	}
	return true
}

// reasonOf returns the first line that a process has printed, which says why it failed.
func reasonOf(err error, printed string) string {
	for line := range strings.Lines(printed) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return err.Error()
}
