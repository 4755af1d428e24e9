package main

import (
	"context"
	"fmt"
	"os"

	"github.com/zkverify/zkverify/workload"
)

// workerCmd hosts clients for a run. What it reads and writes is in
// docs/worker.md.
type workerCmd struct{}

func (workerCmd) Help() string {
	return "A run with --workers starts it. It reads commands from its standard input and answers on its standard output, one JSON object a line; docs/worker.md has the protocol, for workers in other languages."
}

func (workerCmd) Run(ctx context.Context, con *console) error {
	if err := workload.Worker(ctx, os.Stdin, con.out); err != nil {
		return usageError{err}
	}
	return nil
}

// workerFlags say in which processes the clients live.
type workerFlags struct {
	N             int    `name:"workers" help:"Processes that the clients live in, for faults to pause and kill; 0: this one (${default})." default:"0"`
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

// workers returns what a run is told of them; their logs are in dir.
func (f workerFlags) workers(dir string) (workload.Workers, error) {
	if f.N == 0 {
		return workload.Workers{}, nil
	}
	w := workload.Workers{N: f.N, Logs: dir}
	if f.WorkerCommand != "" {
		w.Command = []string{"/bin/sh", "-c", "exec " + f.WorkerCommand}
		return w, nil
	}
	self, err := os.Executable()
	w.Command = []string{self, "worker"}
	return w, err
}

// described returns the target that a worker has brought along, nil if it hosts
// those of zkverify.
func (f workerFlags) described(ctx context.Context) (workload.Target, error) {
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
	t, err := workload.Describe(ctx, w)
	if err != nil {
		return nil, usage("--worker-command: %w", err)
	}
	return t, nil
}

// options is what the history's header has of it.
func (f workerFlags) options(o map[string]string) {
	if f.N > 0 {
		o["workers"] = fmt.Sprint(f.N)
	}
	if f.WorkerCommand != "" {
		o["worker-command"] = f.WorkerCommand
	}
}
