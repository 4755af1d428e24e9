package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
)

// RealTime makes runs on simulated servers in real time.
type RealTime struct {
	Duration time.Duration // of the faults
	Patience time.Duration // with a run, after which it is hung
}

// Name is of type Runner.
func (r RealTime) Name() string { return "zkverify " + strings.Join(r.args(), " ") }

func (r RealTime) args() []string {
	return []string{"run", "--ensemble", "simulated", "--recipe", "all", "--duration", r.Duration.String()}
}

// Run is of type Runner.
func (r RealTime) Run(ctx context.Context, run Run) (Outcome, error) {
	args := append(r.args(), "--seed", strconv.FormatInt(run.Seed, 10), "--json", "--quiet", "--out", filepath.Join(run.Dir, "run"))
	p, err := start(ctx, r.Patience, run, args...)
	if err != nil {
		return Outcome{}, err
	}
	return p.outcome(), nil
}

// ended is a process that has ended.
type ended struct {
	stdout, stderr string
	err            error // nil for exit status 0
	late           bool  // its patience was over
}

// mostMemory is how much a program may take, in KiB: a mutant may allocate without end.
const mostMemory = 8 << 20

// bounded is the command of a program with the run's environment and a bound on memory,
// without its arguments.
func bounded(run Run) ([]string, error) {
	if _, err := exec.LookPath(run.Program); err != nil {
		return nil, err // else the shell would say so, as the program might
	}
	shell := []string{"sh", "-c", fmt.Sprintf(`ulimit -v %d 2>/dev/null; exec "$@"`, mostMemory), "sh", "env"}
	return append(append(shell, run.Env...), run.Program), nil
}

// start starts a program and waits for its end. It is stopped when ctx ends or its time
// is over.
func start(ctx context.Context, patience time.Duration, run Run, args ...string) (ended, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	command, err := bounded(run)
	if err != nil {
		return ended{}, err
	}
	command = append(command, args...)
	cmd := exec.CommandContext(limited, command[0], command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = run.Dir, &stdout, &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // it prints its goroutines
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Run()
	if ctx.Err() != nil {
		return ended{}, context.Cause(ctx)
	}
	var exit *exec.ExitError
	late := limited.Err() != nil
	if err != nil && !late && !errors.As(err, &exit) {
		return ended{}, err // it could not be started
	}
	return ended{stdout.String(), stderr.String(), err, late}, nil
}

// outcome reads what zkverify run --json says.
func (p ended) outcome() Outcome {
	if p.late {
		return Outcome{End: Hung, Reason: "the run did not end"}
	}
	if why := panicOf(p.stderr); why != "" {
		return Outcome{End: Panicked, Reason: why}
	}
	var report struct {
		Outcome  verdict.Outcome
		Reason   string
		Verdicts []verdict.Verdict
	}
	if err := json.Unmarshal([]byte(p.stdout), &report); err != nil {
		return Outcome{End: Void, Reason: fmt.Sprintf("no verdict: %v: %s", p.err, lastLine(p.stderr))}
	}
	o := Outcome{End: Void, Reason: report.Reason}
	for _, v := range report.Verdicts {
		if v.Outcome == verdict.Violated {
			o.Guarantees = append(o.Guarantees, v.Guarantee)
		}
	}
	switch report.Outcome {
	case verdict.Violated:
		o.End = Violated
	case verdict.Unknown, "":
	default: // nothing is wrong with what was exercised, and bad luck may keep a run from more
		o.End = Held
	}
	return o
}

// panicOf is the line that says why a Go program did not survive, "" if it did.
func panicOf(stderr string) string {
	for line := range strings.Lines(stderr) {
		for _, prefix := range []string{"panic: ", "fatal error: "} {
			if strings.HasPrefix(line, prefix) {
				return strings.TrimSpace(line)
			}
		}
	}
	return ""
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
