package faults

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// pauseWorkerKind stops the process that a lock's holder lives in, for longer
// than its session can live, as a long garbage collection or the suspension of its
// machine does. The lock is granted to another client; when the process wakes up it
// still believes that it holds the lock. No lock can prevent that: fencing tokens
// exist for this fault.
func pauseWorkerKind() fault.Kind {
	return fault.Kind{
		Name:        histories.WorkerPause,
		Description: "a process of clients is stopped (SIGSTOP) for longer than a session lives, and goes on",
		Needs:       fault.NeedsWorkers, Weight: 2,
		Span: fault.Timeouts(1.5, 2.5),
		Make: func(s fault.Scene) (fault.Fault, error) {
			f, worker, workers, err := workerFault(s, histories.WorkerPause)
			f.HealWithin = fault.HealWithin
			f.Start = func(ctx context.Context) error { return workers.Pause(ctx, worker) }
			f.Stop = func(context.Context) error { return workers.Resume(worker) }
			return f, err
		},
	}
}

// workerFault begins a fault of the victim's worker process. Only processes qualify
// all of whose clients have a session and are hit by no other fault. The fault hits
// all clients of the process.
func workerFault(s fault.Scene, name string) (f fault.Fault, worker int, workers fault.Workers, err error) {
	workers, ok := s.World.(fault.Workers)
	if !ok {
		return f, 0, nil, fmt.Errorf("fault %s needs clients in worker processes", name)
	}
	idle := func(c fault.Client) bool {
		return c.Worker != 0 && !slices.ContainsFunc(s.Everyone, func(o fault.Client) bool {
			return o.Worker == c.Worker && !slices.ContainsFunc(s.Free, func(x fault.Client) bool { return x.Index == o.Index })
		})
	}
	s.Free = slices.DeleteFunc(slices.Clone(s.Free), func(c fault.Client) bool { return !idle(c) })
	victim, err := s.Victim()
	if err != nil {
		return f, 0, nil, err
	}
	f = fault.Fault{Name: name, Targets: []string{fmt.Sprintf("worker %d", victim.Worker)}}
	for _, c := range s.Everyone {
		if c.Worker == victim.Worker {
			f.Clients = append(f.Clients, c.Index)
			f.Targets = append(f.Targets, fault.ClientName(c.Index))
		}
	}
	return f, victim.Worker, workers, nil
}
