package workload

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// returnWithin is what a client gets to come back from its last call when
// everything is over, before its network is taken away, and again after that.
const returnWithin = time.Second

// join waits for the clients' goroutines. One whose target does not come back
// from a call is torn out of it.
func (r *run) join(stuck <-chan []string) error {
	wait := time.Until(r.recoverBy) + returnWithin
	if r.life.Err() != nil {
		wait = returnWithin
	}
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	late := 0
	over := r.life.Done()
	for left := len(r.clients); left > 0; {
		select {
		case s := <-stuck:
			r.result.Stuck = append(r.result.Stuck, s...)
			left--
			continue
		case <-over:
			over = nil // an interrupt does not wait for recovery's bound
			deadline.Reset(returnWithin)
			continue
		case <-deadline.C:
		}
		late++
		if late > 1 {
			return fmt.Errorf("target %s: %d clients did not return from a call, even without a network", r.cfg.Target.Name(), left)
		}
		for _, c := range r.clients {
			target := c.take()
			if w, absent, first := c.home.vacate(target); first {
				w.tear()
				absent()
				c.wg.Go(target.Crash)
			}
		}
		deadline.Reset(2 * returnWithin)
	}
	if late > 0 {
		r.warn("clients were torn out of calls that did not return when their context ended")
	}
	return nil
}

// closeWithin bounds the good-bye of each client.
const closeWithin = 3 * time.Second

// tearDown closes the clients, their links and the observer.
func (r *run) tearDown() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	var wg sync.WaitGroup
	for _, c := range r.clients {
		wg.Go(func() {
			if err := c.close(ctx); err != nil {
				r.warn("%v", err)
			}
		})
	}
	wg.Wait()
	err := r.waitClients(ctx)
	if r.workers != nil {
		r.endWorkers()
	}
	for _, h := range r.households() {
		for _, l := range h.links {
			wg.Go(func() {
				if err := l.Close(); err != nil {
					r.warn("%v", err)
				}
			})
		}
	}
	wg.Wait()
	if r.observer != nil {
		r.observer.removeRoot()
		r.observer.close()
	}
	return err
}

// waitClients waits for the goroutines that belong to the clients.
func (r *run) waitClients(ctx context.Context) error {
	done := make(chan struct{})
	// Ends when they do; a target that never ends keeps it.
	go func() {
		defer close(done)
		for _, c := range r.clients {
			c.wg.Wait()
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
		return fmt.Errorf("target %s: a closed client goes on running", r.cfg.Target.Name())
	}
}
