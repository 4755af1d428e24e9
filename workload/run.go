package workload

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis"
)

// Run drives the target through the phases of a run and records them. It
// returns when everything that it started has ended; the ensemble, the network
// and the recorder stay open.
//
// The error says why the history is not a whole record of a run: the recorder
// failed, a fault did not heal, the context ended, the target did not come
// back from a call. What a lock did wrong is no error, it is in the history.
func Run(ctx context.Context, cfg Config) (Result, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Result{}, err
	}
	life, end := context.WithCancelCause(ctx)
	defer end(nil)
	r := &run{
		cfg: cfg, life: life, promises: cfg.Promises(), before: stacks(),
		active: make(map[int]string), counters: make(map[string]*counters),
	}
	r.journal = &journal{Recorder: cfg.Recorder, refuse: end}
	for i := range cfg.Locks {
		r.locks = append(r.locks, lockName(i))
		r.counters[lockName(i)] = new(counters)
	}
	// A history that cannot be written ends the run. Ends with life.
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-cfg.Recorder.Failed():
			end(cfg.Recorder.Err())
		case <-stop:
		}
	})
	wg.Go(func() { r.reportProgress(stop) })
	err = r.phases(ctx)
	close(stop)
	wg.Wait()
	r.result.Schedule = *cfg.Schedule
	r.result.Ops, r.result.Cycles = r.journal.ops.Load(), r.journal.cycles.Load()
	r.result.Expired, r.result.ExpiredBusy = r.expired.Load(), r.expiredBusy.Load()
	r.result.HeldAcross = r.heldAcross.Load()
	if cfg.Progress != nil {
		cfg.Progress(r.progress())
	}
	return r.result, err
}

// run is one run under way.
type run struct {
	cfg      Config
	life     context.Context // ends when the run must end at once
	promises histories.Promises
	journal  *journal
	locks    []string
	counters map[string]*counters // by lock
	before   map[string]string    // goroutines that are not ours
	name     string               // unique, for the links
	observer *observer
	clients  []*client

	expired, expiredBusy, heldAcross atomic.Int64

	// recoverBy is when recovery must be over; set before it begins.
	recoverBy time.Time

	mu     sync.Mutex
	phase  string
	since  time.Time      // when the chaos phase began
	active map[int]string // faults in force

	result Result // written by the goroutine of Run alone
}

func (r *run) lockRoot() string { return path.Join(r.observer.root, "locks") }

// phases runs everything, in order, and undoes what it set up.
func (r *run) phases(ctx context.Context) (err error) {
	if err := r.setUp(ctx); err != nil {
		return errors.Join(err, r.tearDown())
	}
	watching, unwatch := context.WithCancel(context.Background())
	var watch sync.WaitGroup
	watch.Go(func() { r.observer.watch(watching) }) // ends with unwatch

	r.enter(histories.PhaseChaos)
	recovery := make(chan struct{}) // closed when the recovery phase begins
	chaos, over := context.WithTimeout(r.life, r.cfg.Duration)
	defer over()
	stuck := r.start(chaos, recovery)
	report, nemesisErr := nemesis.Run(chaos, world{r}, *r.cfg.Schedule, r.journal)
	<-chaos.Done()
	r.result.Nemesis, r.result.Chaos = report, time.Since(r.since)
	interrupted := r.life.Err() != nil
	if !interrupted {
		r.enter(histories.PhaseRecovery)
	}
	close(recovery)
	err = errors.Join(nemesisErr, r.join(stuck))
	interrupted = interrupted || r.life.Err() != nil
	if !interrupted {
		r.enter(histories.PhaseEnd)
		if err := r.countNodes(r.life, &r.result.Census); err != nil {
			r.warn("not all nodes and watches could be counted: %v", err)
		}
		var compareErr error
		if r.result.Inconsistent, compareErr = r.compareServers(r.life); compareErr != nil {
			r.warn("not all servers could be compared: %v", compareErr)
		}
	}
	unwatch()
	watch.Wait()
	err = errors.Join(err, r.tearDown())
	interrupted = interrupted || r.life.Err() != nil
	if !interrupted {
		r.countGoroutines(r.life, &r.result.Census)
		census := r.result.Census
		r.journal.record(histories.Event{Type: histories.CensusDone, Process: -1, Census: &census})
	}
	r.result.Interrupted = interrupted
	if interrupted {
		err = errors.Join(context.Cause(r.life), err)
	}
	return err
}

// setUp opens the observer, the links and the clients.
func (r *run) setUp(ctx context.Context) error {
	var servers []string
	for _, s := range r.cfg.Ensemble.Servers() {
		servers = append(servers, s.Addr)
	}
	opening, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	o, err := newObserver(opening, servers)
	if err != nil {
		return err
	}
	o.journal, o.expired = r.journal, r.sessionExpired
	r.observer = o
	root, err := o.makeRoot(r.cfg.Ensemble.Root())
	if err != nil {
		return fmt.Errorf("preparing %s: %w", r.cfg.Ensemble.Root(), err)
	}
	r.name = path.Base(root)
	for i := range r.cfg.Clients {
		c := newClient(r, i)
		r.clients = append(r.clients, c)
		if err := c.link(opening); err != nil {
			return err
		}
	}
	var g errgroup.Group
	for _, c := range r.clients {
		g.Go(func() error { return c.open(opening) })
	}
	return g.Wait()
}

// start lets the clients loose. Each runs through chaos, waits for recovery,
// and gets every lock once; the channel then has what it did not get.
func (r *run) start(chaos context.Context, recovery <-chan struct{}) <-chan []string {
	done := make(chan []string, len(r.clients))
	for _, c := range r.clients {
		// Ends with recovery's bound; join waits for it.
		go func() {
			c.chaos(chaos)
			<-recovery
			if r.life.Err() != nil {
				done <- nil
				return
			}
			bounded, cancel := context.WithDeadline(r.life, r.recoverBy)
			defer cancel()
			var stuck []string
			for _, lock := range c.recover(bounded) {
				stuck = append(stuck, fmt.Sprintf("client %d: %s", c.index, lock))
			}
			done <- stuck
		}()
	}
	return done
}

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
			if target, w, absent := c.take(); target != nil {
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
	for _, c := range r.clients {
		for _, l := range c.links {
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

func (r *run) enter(phase string) {
	r.mu.Lock()
	now := time.Now()
	switch phase {
	case histories.PhaseChaos:
		r.since = now
	case histories.PhaseRecovery:
		r.recoverBy = now.Add(r.promises.ProgressBound)
	}
	r.phase = phase
	r.mu.Unlock()
	r.journal.record(histories.Event{Type: histories.PhaseStart, Process: -1, Phase: phase})
}

func (r *run) warn(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Warnings = append(r.result.Warnings, fmt.Sprintf(format, args...))
}

// sessionExpired is told by the observer.
func (r *run) sessionExpired(session int64) {
	r.expired.Add(1)
	for _, c := range r.clients {
		if c.busyIn(session) {
			r.expiredBusy.Add(1)
		}
	}
}
