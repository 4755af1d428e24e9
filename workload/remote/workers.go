package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/zkverify/zkverify/ensemble/child"
	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// Config describes the processes that the clients of a run live in. The zero value means this
// process.
type Config struct {
	N int // number of processes; client i lives in process i%N+1
	// Command starts a process: a program that runs [Worker], or another that speaks its
	// protocol. Required if N is not 0.
	Command []string
	// Logs is the folder for the standard error of the processes: worker-1.log and so on.
	// Required if N is not 0.
	Logs string
	// Slack is the largest delay of a line with which a violation is still held against the
	// lock. Each process is asked whether it runs four times in it. Zero: none is asked.
	Slack time.Duration
	// Patience is the time that an answer may take if it waits for nothing but the process;
	// default 10 s. A process that takes longer has failed.
	Patience time.Duration
	// Hurry is closed when the run must end at once: then no answer may take longer than 2 s. It
	// may be nil.
	Hurry <-chan struct{}
}

// ErrUnavailable is the error of a worker that ends with the status 69 (EX_UNAVAILABLE): a
// thing that it needs is not there, such as a library.
var ErrUnavailable = errors.New("the worker lacks something")

// exitUnavailable is the exit status of such a worker.
const exitUnavailable = 69

// Workers are the worker processes of a run.
type Workers struct {
	spawner *child.Spawner
	all     []*slot
}

// Start starts the workers, and returns when each has said hello. died is called with the error
// of a process that has ended by itself. After an error call End too.
func Start(ctx context.Context, cfg Config, died func(error)) (*Workers, error) {
	w := &Workers{spawner: child.NewSpawner()}
	var g errgroup.Group
	for i := range cfg.N {
		one := newSlot(i+1, cfg, w.spawner)
		one.died = died
		w.all = append(w.all, one)
		g.Go(func() error { return one.start(ctx) })
	}
	return w, g.Wait()
}

// slot returns the slot of the worker that a client lives in.
func (w *Workers) slot(client int) *slot { return w.all[client%len(w.all)] }

// Number returns the number of the worker that a client lives in, from 1.
func (w *Workers) Number(client int) int { return w.slot(client).number }

// Open starts a client in its worker, as soon as there is a process.
func (w *Workers) Open(ctx context.Context, client int, o Opening) (*Client, error) {
	return w.slot(client).open(ctx, o)
}

// Pause stops the process of a worker, given by its number.
func (w *Workers) Pause(ctx context.Context, worker int) error { return w.all[worker-1].pause(ctx) }

// Resume lets the process of a worker go on.
func (w *Workers) Resume(worker int) error { return w.all[worker-1].resume() }

// Kill ends the process of a worker, and returns when all consequences of its end are on
// record.
func (w *Workers) Kill(worker int) { w.all[worker-1].stop() }

// Start starts another process for a worker, and returns when it has said hello.
func (w *Workers) Start(ctx context.Context, worker int) error { return w.all[worker-1].start(ctx) }

// End ends all processes, and returns when they are gone, with all processes that they have
// started. The error names those that did not end by themselves, or that are left.
func (w *Workers) End() error {
	var wg sync.WaitGroup
	errs := make([]error, len(w.all))
	for i, one := range w.all {
		wg.Go(func() { errs[i] = one.end() })
	}
	wg.Wait()
	w.spawner.Close()
	return errors.Join(errs...)
}

// Unanswered describes, for each worker, a command that it has not answered for longer than
// moment.
func (w *Workers) Unanswered(moment time.Duration) (all []string) {
	for _, one := range w.all {
		if p := one.current(); p != nil {
			if text := p.connection.unanswered(moment); text != "" {
				all = append(all, text)
			}
		}
	}
	return all
}

// Goroutines asks each worker for the goroutines that its closed clients have left running. A
// worker that does not answer has failed.
func (w *Workers) Goroutines() (left []string, err error) {
	stacks, errs := make([][]string, len(w.all)), make([]error, len(w.all))
	var wg sync.WaitGroup
	for i, one := range w.all {
		p := one.current()
		if p == nil {
			continue // it never started, which is reported elsewhere
		}
		wg.Go(func() {
			l, err := p.connection.ask(context.Background(), protocol.Command{Do: protocol.DoCensus}, nil, nil)
			if err != nil {
				err = fmt.Errorf("%s does not say what its clients have left: %w", one.name(), err)
			}
			stacks[i], errs[i] = l.Stacks, errors.Join(err, p.connection.counted(l.Connects))
		})
	}
	wg.Wait()
	left = slices.Concat(stacks...)
	slices.Sort(left)
	return left, errors.Join(errs...)
}

// Lateness returns the lateness of all workers together.
func (w *Workers) Lateness() Lateness {
	var all []*lateness
	for _, one := range w.all {
		all = append(all, one.late)
	}
	return sum(all)
}
