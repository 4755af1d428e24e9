package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/remote"
	"github.com/zkverify/zkverify/workload/targets"
	"github.com/zkverify/zkverify/workload/worker"
)

// workerCmd hosts clients for a run, or checks another worker program, or makes one.
type workerCmd struct {
	Host  workerHostCmd  `cmd:"" default:"1" help:"Host clients for a run, which starts it with --workers. This is the default."`
	Check workerCheckCmd `cmd:"" help:"Check that a worker program, in any language, does what docs/worker.md asks of it."`
	New   workerNewCmd   `cmd:"" help:"Make a worker project for a lock of yours, in ${languages}."`
}

// workerHostCmd hosts clients for a run. Its protocol is described in
// docs/worker.md.
type workerHostCmd struct{}

func (workerHostCmd) Help() string {
	return words.WithExamples("A run with --workers starts it. It reads commands from its standard input and answers on its standard output, one JSON object a line; docs/worker.md has the protocol, for workers in other languages. zkverify worker check COMMAND says what such a worker does wrong.",
		"zkverify run --workers 3", "zkverify worker check ./myworker")
}

func (workerHostCmd) Run(ctx context.Context, con *console) error {
	if err := worker.Serve(ctx, os.Stdin, screen(con.out), targets.All()...); err != nil {
		return usageError{err}
	}
	return nil
}

// workerFlags choose the processes in which the clients live.
type workerFlags struct {
	N             int    `name:"workers" help:"Processes that the clients live in, for faults to pause and kill; 0: this one." default:"0"`
	WorkerCommand string `help:"Command of a worker process; default zkverify worker. See docs/worker.md." placeholder:"COMMAND"`
}

func (f workerFlags) validate() error {
	switch {
	case f.N < 0:
		return fmt.Errorf("--workers must not be negative, not %d", f.N)
	case f.N == 0 && f.WorkerCommand != "":
		return fmt.Errorf("--worker-command goes with --workers")
	}
	return nil
}

// shell returns the program and arguments that run a command line.
func shell(command string) []string { return []string{"/bin/sh", "-c", "exec " + command} }

// workers returns the configuration of the worker processes of a run. Their logs are in dir.
func (f workerFlags) workers(dir string) (remote.Config, error) {
	if f.N == 0 {
		return remote.Config{}, nil
	}
	w := remote.Config{N: f.N, Logs: dir}
	if f.WorkerCommand != "" {
		w.Command = shell(f.WorkerCommand)
		return w, nil
	}
	self, err := os.Executable()
	w.Command = []string{self, "worker"}
	return w, err
}

// described returns the target that a worker program describes, nil if the workers host
// the targets of zkverify.
func (f workerFlags) described(ctx context.Context, s lock.Settings) (lock.Target, error) {
	if f.WorkerCommand == "" {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "zkverify-worker-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	w, err := f.workers(dir)
	if err != nil {
		return nil, err
	}
	t, err := remote.Describe(ctx, w, s)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if errors.Is(err, remote.ErrUnavailable) {
		return nil, unavailable{fmt.Errorf("--worker-command: %w", err)}
	}
	if err != nil {
		return nil, usage("--worker-command: %w", err)
	}
	return t, nil
}

// options adds the flags to o, the options in the history's header.
func (f workerFlags) options(o map[string]string) {
	if f.N > 0 {
		o["workers"] = fmt.Sprint(f.N)
	}
	if f.WorkerCommand != "" {
		o["worker-command"] = f.WorkerCommand
	}
}
