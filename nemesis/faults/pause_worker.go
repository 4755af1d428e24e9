package faults

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// pauseWorkerKind stops the process that a lock's holder lives in, for longer
// than its session can live, as a long collection of garbage or a machine that
// is suspended does. The lock goes to another; when the process wakes it
// believes what it believed before. No lock can prevent that: it is the fault
// that fencing tokens are for.
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

// workerFault begins a fault of a worker process: the victim's, among those all
// of whose clients have a session and are hit by nothing else. All of them are
// hit.
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
