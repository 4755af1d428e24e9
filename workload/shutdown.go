package workload

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/zkverify/zkverify/workload/internal/client"
)

// returnWithin is the time that a client has to return from its last call at the end of the
// run, before its network is taken away, and again after that.
const returnWithin = time.Second

// join waits for the clients' goroutines. If a target does not return from a call, join takes
// its client's network away.
func (r *run) join(stuck <-chan []string) error {
	deadline := time.NewTimer(returnWithin)
	deadline.Stop()
	defer deadline.Stop()
	late, unanswered := 0, ""
	over := r.Patience.Done() // with recovery's bound, or by an interrupt
	for left := len(r.clients); left > 0; {
		select {
		case s := <-stuck:
			r.result.Stuck = append(r.result.Stuck, s...)
			left--
			continue
		case <-over:
			over = nil
			deadline.Reset(returnWithin)
			continue
		case <-deadline.C:
		}
		late++
		if late > 1 {
			return fmt.Errorf("target %s: %d clients did not return from a call, even without a network%s", r.cfg.Target.Name(), left, unanswered)
		}
		unanswered = r.unanswered()
		for _, c := range r.clients {
			c.TearOut()
		}
		deadline.Reset(2 * returnWithin)
	}
	if late > 0 {
		r.warn("clients were torn out of calls that did not return when their context ended%s", unanswered)
	}
	return nil
}

// tearDown closes the clients, their links and the observer.
func (r *run) tearDown() error {
	ctx, cancel := context.WithTimeout(context.Background(), client.CloseWithin)
	defer cancel()
	var wg sync.WaitGroup
	for _, c := range r.clients {
		wg.Go(func() {
			if err := c.Close(ctx); err != nil {
				r.warn("%v", err)
			}
		})
	}
	wg.Wait()
	err := r.waitClients(ctx)
	if r.Workers != nil {
		r.endWorkers()
	}
	for _, a := range client.ApplicationsOf(r.clients) {
		for _, l := range a.Links {
			wg.Go(func() {
				if err := l.Close(); err != nil {
					r.warn("%v", err)
				}
			})
		}
	}
	wg.Wait()
	if r.Observer != nil {
		r.Observer.RemoveRoot()
		r.Observer.Close()
	}
	return err
}

// waitClients waits for the goroutines that belong to the clients.
func (r *run) waitClients(ctx context.Context) error {
	done := make(chan struct{})
	// Ends when they do; a target that never ends keeps it running.
	go func() {
		defer close(done)
		for _, c := range r.clients {
			c.Background.Wait()
		}
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-done:
		return nil
	case <-time.After(returnWithin):
		return fmt.Errorf("target %s: a closed client goes on running%s", r.cfg.Target.Name(), r.unanswered())
	}
}

// unanswered returns the end of a message: the commands that worker processes have not
// answered.
func (r *run) unanswered() string {
	if r.Workers == nil {
		return ""
	}
	text := strings.Join(r.Workers.Unanswered(returnWithin), "; ")
	if text == "" {
		return ""
	}
	return ": " + text
}

// workerFailed ends the run with the error of a worker process that can no longer be used. If
// the run has ended for another reason, that reason stays the run's error.
func (r *run) workerFailed(err error) {
	if r.Life.Err() != nil {
		r.warn("%v", err)
	}
	r.end(err)
}

// endWorkers asks the processes which goroutines their clients, which are closed, have left
// running, and then ends the processes.
func (r *run) endWorkers() {
	if r.Life.Err() == nil {
		var err error
		if r.stacks, err = r.Workers.Goroutines(); err != nil && r.Life.Err() == nil {
			r.warn("not everything could be counted in the worker processes: %v", err)
		}
	}
	if err := r.Workers.End(); err != nil {
		r.warn("%v", err)
	}
}
