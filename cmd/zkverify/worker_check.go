package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/conformance"
)

// workerCheckCmd checks a worker program.
type workerCheckCmd struct {
	Command []string `arg:"" passthrough:"" name:"command" help:"The command of the worker: one argument, as for run --worker-command, or a program and its arguments." placeholder:"COMMAND"`

	Target   string        `default:"recipes" help:"What to ask a worker for that hosts no lock of its own; see zkverify list targets." placeholder:"NAME"`
	Steps    []string      `name:"step" help:"Make this step alone, after hello; may be given more than once. Default all." placeholder:"NAME"`
	Patience time.Duration `default:"10s" help:"How long an answer may take."`
	Servers  ensembleFlags `embed:""`
	Timeout  time.Duration `name:"session-timeout" default:"4s" help:"Session timeout of the clients."`
}

func (workerCheckCmd) Help() string {
	return words.WithExamples("Starts the worker anew for each step, on real servers, and asks one thing of it: to say hello, to open a client, to acquire, to cancel, to crash, to end with its input and so on. "+
		"Says of each step that it does wrong what was expected and what came. The exit status is 0 if it does nothing wrong, 1 if it does, else 2.",
		"zkverify worker check ./myworker", "zkverify worker check 'python3 worker.py'")
}

// Validate is called by kong.
func (c *workerCheckCmd) Validate() error {
	if c.Patience <= 0 {
		return fmt.Errorf("--patience must be positive, not %v", c.Patience)
	}
	if c.Timeout < 2*c.Servers.Tick {
		return fmt.Errorf("--session-timeout must be at least two ticks (%v), not %v", 2*c.Servers.Tick, c.Timeout)
	}
	return c.Servers.validate()
}

func (c *workerCheckCmd) Run(ctx context.Context, con *console) error {
	command := c.Command
	if len(command) == 1 {
		command = shell(command[0])
	}
	dir, err := os.MkdirTemp("", "zkverify-worker-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	servers := serversFlags{ensembleFlags: c.Servers, SessionTimeout: c.Timeout}
	env, err := servers.open(ctx, con, dir, runID(time.Now(), 0))
	if err != nil {
		return err
	}
	defer env.Close()
	wrong := 0
	steps, err := conformance.Check(ctx, conformance.Config{
		Command: command, Ensemble: env.ensemble, Auth: env.auth, Logs: dir, Target: c.Target, SessionTimeout: c.Timeout, Patience: c.Patience, Steps: c.Steps,
		Told: func(s conformance.Step) {
			tellStep(con.out, s)
			if !s.OK() {
				wrong++
			}
		},
	})
	switch {
	case ctx.Err() != nil:
		fmt.Fprintf(con.out, "\ninterrupted after %s; wrong until then: %d\n", words.Count(len(steps), "step"), wrong)
		return outcome(verdict.Unknown)
	case err != nil:
		return err
	case wrong > 0:
		fmt.Fprintf(con.out, "\nThe worker does %d of %s wrong. docs/worker.md has the protocol.\n", wrong, words.Count(len(steps), "step"))
		return outcome(verdict.Violated)
	}
	missing := 0
	for _, s := range steps {
		if s.Missing != "" {
			missing++
		}
	}
	if missing > 0 {
		fmt.Fprintf(con.out, "\n%d of %s could not be made: nothing was found wrong in the others.\n", missing, words.Count(len(steps), "step"))
		return outcome(verdict.Unknown)
	}
	fmt.Fprintf(con.out, "\nThe worker does all %s right.\n", words.Count(len(steps), "step"))
	return nil
}

// tellStep prints a step, and what the worker did wrong in it.
func tellStep(out io.Writer, s conformance.Step) {
	verdict := "ok"
	switch {
	case !s.OK():
		verdict = "WRONG"
	case s.Missing != "":
		verdict = "not made"
	}
	fmt.Fprintf(out, "%-8s %-20s %s\n", verdict, s.Name, s.Does)
	if s.Missing != "" {
		tellPart(out, "why", s.Missing)
	}
	for _, w := range s.Wrong {
		tellPart(out, "sent", w.Sent)
		tellPart(out, "expected", w.Expected)
		tellPart(out, "came", w.Came)
		tellPart(out, "stderr", w.Stderr)
	}
}

// tellPart prints a text next to its name, if there is any.
func tellPart(out io.Writer, name, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(out, "          %-9s %s\n", name, strings.TrimRight(line, "\n"))
		name = ""
	}
}
