package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	locks "github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/remote"
)

// workerPresence is the node at which the clients of a worker announce themselves to the
// servers.
const workerPresence = "/bench-presence"

// runSlack is the slack of a worker in a run with sessions of 2 s, the default. It
// determines how often the bench asks whether the worker runs.
const runSlack = 100 * time.Millisecond

// curatorWorker is Curator's mutex as a run of zkverify drives it: in a worker process, by
// the protocol of docs/worker.md. Each cycle asks the worker the questions of a hold of a
// run.
type curatorWorker struct {
	*inProcess
	workers *remote.Workers
}

// startCuratorWorker starts the worker, with its log in dir. The error names the missing
// tool of the machine.
func startCuratorWorker(ctx context.Context, dir string, s *servers) (*curatorWorker, error) {
	command, err := curatorWorkerScript()
	if err != nil {
		return nil, err
	}
	if _, err := s.conn.Create(workerPresence, nil, 0, openACL); err != nil {
		return nil, fmt.Errorf("create %s: %w", workerPresence, err)
	}
	died := func(err error) { fmt.Fprintln(os.Stderr, "bench:", err) } // its next command fails
	workers, err := remote.Start(ctx, remote.Config{N: 1, Command: []string{command, "mutex"}, Logs: dir, Slack: runSlack}, died)
	if err != nil {
		_ = workers.End() // the worker has not started
		return nil, errors.New(oneLine(err.Error()))
	}
	return &curatorWorker{newInProcess(inWorker, workerLibrary{workers}), workers}, nil
}

// curatorWorkerScript finds the script in the source of zkverify, at or above the working
// directory.
func curatorWorkerScript() (string, error) {
	const script = "workload/examples/curator/curator_worker"
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		at := filepath.Join(dir, script)
		if _, err := os.Stat(at); err == nil {
			return at, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no %s here or above: run it in zkverify's source", script)
		}
		dir = filepath.Dir(dir)
	}
}

func (c *curatorWorker) close() {
	c.inProcess.close()
	_ = c.workers.End() // no command follows
}

// workerLibrary opens clients in the worker.
type workerLibrary struct{ workers *remote.Workers }

func (l workerLibrary) connect(ctx context.Context, server string) (session, error) {
	client, err := l.workers.Open(ctx, 0, remote.Opening{
		Env:       locks.Env{Servers: []string{server}, SessionTimeout: sessionTimeout, TickTime: time.Second},
		IDs:       map[string]int{server: 1},
		Presence:  workerPresence,
		Announced: func(_, _ int64) {},
		Died:      func(*remote.Client) {},
	})
	if err != nil {
		return nil, err
	}
	return workerSession{client}, nil
}

var errEnded = errors.New("the worker has ended")

type workerSession struct{ client *remote.Client }

func (s workerSession) lock(w work, _ int) (lock, error) {
	if w.kind != mutex {
		return nil, fmt.Errorf("no lock of kind %s", w.kind)
	}
	return &workerLock{client: s.client, name: w.path[1:]}, nil
}

func (s workerSession) close() {
	ctx, cancel := context.WithTimeout(context.Background(), sessionTimeout)
	defer cancel()
	_ = s.client.Close(ctx) // the session ends by itself
}

// workerLock makes the cycle of a run's holder, except for its accesses to the counters. It
// asks whether its lease is valid before the plain write. Before every other access, and
// before it releases, it asks whether a fault pauses the process.
type workerLock struct {
	client *remote.Client
	name   string
	lease  locks.Lease
}

func (l *workerLock) acquire(ctx context.Context) (err error) {
	if l.lease, err = l.client.Acquire(ctx, l.name); err != nil {
		return err
	}
	for range 2 { // before the reads, and before the fenced write
		if !l.client.Awake() {
			return errEnded
		}
	}
	if !l.lease.Valid() {
		return errors.New("a lease that is not valid")
	}
	return nil
}

func (l *workerLock) release(ctx context.Context) error {
	if !l.client.Awake() {
		return errEnded
	}
	return l.lease.Release(ctx)
}
