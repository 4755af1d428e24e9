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

// Config says in which processes the clients of a run live. The zero value
// means in this one.
type Config struct {
	N int // how many; client i lives in process i%N+1
	// Command starts one: a program that runs [Worker], or another that speaks
	// its protocol. Required if there are any.
	Command []string
	// Logs is the folder for what they write to their standard error:
	// worker-1.log and so on. Required if there are any.
	Logs string
	// Slack is how late a line may be for a violation to be held against the lock. Each
	// process is asked whether it runs four times in it. Zero: none is asked.
	Slack time.Duration
	// Patience is how long an answer may take that waits for nothing but the process; default
	// 10 s. A process that takes longer has failed.
	Patience time.Duration
	// Hurry is closed when the run must end at once: then no answer may take longer than 2 s. It
	// may be nil.
	Hurry <-chan struct{}
}

// ErrUnavailable is the error of a worker that ends with the status 69 (EX_UNAVAILABLE): what it
// needs is not there, such as a library.
var ErrUnavailable = errors.New("the worker lacks something")

// exitUnavailable is the exit status of such a worker.
const exitUnavailable = 69

// Workers are the worker processes of a run.
type Workers struct {
	spawner *child.Spawner
	all     []*slot
}

// Start starts them, and returns when each has said hello. died is called with
// the error of one that has ended by itself. After an error they are to be ended too.
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

// slot returns the one that a client lives in.
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

// Kill ends the process of a worker, and returns when all that follows from its end is
// on record.
func (w *Workers) Kill(worker int) { w.all[worker-1].stop() }

// Start starts another process for a worker, and returns when it has said hello.
func (w *Workers) Start(ctx context.Context, worker int) error { return w.all[worker-1].start(ctx) }

// End ends all processes, and returns when they are gone, with all that they have started. The
// error says what they did not end by themselves, or what is left.
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

// Unanswered tells, of each worker that has not answered a command for more than a moment, which.
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

// Goroutines asks each for what its closed clients have left running. One that does not answer has
// failed.
func (w *Workers) Goroutines() (left []string, err error) {
	stacks, errs := make([][]string, len(w.all)), make([]error, len(w.all))
	var wg sync.WaitGroup
	for i, one := range w.all {
		p := one.current()
		if p == nil {
			continue // it never started, which is told elsewhere
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

// Lateness is that of all workers together.
func (w *Workers) Lateness() Lateness {
	var all []*lateness
	for _, one := range w.all {
		all = append(all, one.late)
	}
	return sum(all)
}
