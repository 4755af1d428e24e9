package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/seeded"
)

// Fleet carries out runs, each in a process of its own.
type Fleet struct {
	// Command is that of a process that calls Host with this Version.
	Command []string
	Version string
	Look    Look // at each run
	// Jobs is how many processes there are at a time, at least 1.
	Jobs int
	// Patience is how long a process may take, in real time: a run that does not end has a
	// goroutine that waits for something outside of the bubble. 0: two minutes.
	Patience time.Duration

	environ []string // of processes, besides what all have
}

// StacksFile is the file of a run's folder that has what a process that failed has
// printed: the stacks of its goroutines.
const StacksFile = "goroutines.txt"

// Run carries out a run. Its folder is made; that of one that passed is removed again. A
// process that fails is an outcome too: unknown, with the reason, and with what it printed
// in the folder.
func (f Fleet) Run(ctx context.Context, s Spec, dir string) (Outcome, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Outcome{}, err
	}
	o, err := f.process(ctx, s, dir)
	if err != nil || o.Passed() && !f.Look.Trace {
		return o, errors.Join(err, os.RemoveAll(dir))
	}
	return o, nil
}

func (f Fleet) process(ctx context.Context, s Spec, dir string) (Outcome, error) {
	asked, err := json.Marshal(f.request(s))
	if err != nil {
		return Outcome{}, err
	}
	patience := f.Patience
	if patience == 0 {
		patience = 2 * time.Minute
	}
	late, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var out, stderr bytes.Buffer
	cmd := exec.CommandContext(late, f.Command[0], f.Command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(seeded.Environ(), "GOMAXPROCS=1", "GOGC=off", "GOTRACEBACK=all")
	cmd.Env = append(cmd.Env, f.environ...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(asked), &out, &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // it prints its goroutines
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Run()
	var o Outcome
	if err == nil {
		err = json.NewDecoder(&out).Decode(&o)
	}
	switch {
	case err == nil:
		return o, nil
	case ctx.Err() != nil:
		return Outcome{}, context.Cause(ctx)
	}
	o = Outcome{Spec: s, Outcome: verdict.Unknown, Trouble: reasonOf(err, stderr.String())}
	if late.Err() != nil {
		o.Trouble = fmt.Sprintf("it did not end within %v; %s says which goroutine waits where", patience, StacksFile)
	}
	return o, os.WriteFile(filepath.Join(dir, StacksFile), stderr.Bytes(), 0o644)
}

func (f Fleet) request(s Spec) request {
	r := request{Version: f.Version, Spec: s, Until: fmt.Sprintf("%020d", f.Look.Until)}
	if f.Look.Trace {
		r.Trace = 1
	}
	return r
}

// reasonOf is the first line that a process has printed, which says why it failed.
func reasonOf(err error, printed string) string {
	for line := range strings.Lines(printed) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return err.Error()
}

// All carries out runs, Jobs at a time, until next has none left or ctx ends, and tells
// done of each, one after the other, in the order in which they end. The folder of one is
// named in folder. It returns the first error of Run, after which no run begins.
func (f Fleet) All(ctx context.Context, next func() (s Spec, folder string, ok bool), done func(Outcome, string)) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex // guards next and done
	var jobs sync.WaitGroup
	for range f.Jobs {
		// Ends when there is nothing left to run.
		jobs.Go(func() {
			for {
				mu.Lock()
				s, folder, ok := next()
				mu.Unlock()
				if !ok || ctx.Err() != nil {
					return
				}
				o, err := f.Run(ctx, s, folder)
				if ctx.Err() != nil {
					return
				}
				if err != nil {
					stop(fmt.Errorf("seed %d: %w", s.Seed, err))
					return
				}
				mu.Lock()
				done(o, folder)
				mu.Unlock()
			}
		})
	}
	jobs.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
