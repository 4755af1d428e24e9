package workload

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/workload/lock"
)

// ErrNoEnsemble is returned by Run when the servers, or the links to them, fail before
// the run has begun.
var ErrNoEnsemble = errors.New("the servers, or the links to them, failed before the run began")

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
		cfg: cfg, life: life, end: end, promises: cfg.promises(), before: stacks(),
		active: make(map[int]*striking), met: make(map[meeting]int), counters: make(map[string]*counters),
	}
	r.patience, r.endPatience = context.WithCancel(life)
	defer r.endPatience()
	r.journal = &journal{Recorder: cfg.Recorder, refuse: end}
	r.groups = cfg.groups()
	r.locks = lockTable(r.groups)
	for name := range r.locks {
		r.counters[name] = new(counters)
	}
	for _, g := range r.groups {
		g.driver = g.make(r)
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
	if r.workers != nil {
		r.result.Lateness = r.workers.lateness()
	}
	if cfg.Progress != nil {
		cfg.Progress(r.progress())
	}
	return r.result, err
}

// run is one run under way.
type run struct {
	cfg      Config
	life     context.Context // ends when the run must end at once
	end      context.CancelCauseFunc
	promises histories.Promises
	journal  *journal
	groups   []*group                  // what is driven
	locks    map[string]histories.Lock // by name
	counters map[string]*counters      // by lock
	before   map[string]string         // goroutines that are not ours
	idle     int                       // goroutines of the clients when they had been opened
	name     string                    // unique, for the links
	observer *observer
	clients  []*client
	workers  *workers // nil when clients live in this process
	stacks   []string // goroutines that closed clients have left in workers

	expired, expiredBusy, heldAcross, held atomic.Int64

	// recoverBy is when recovery must be over; set before it begins.
	recoverBy time.Time
	// patience ends then: whoever waits for ever does so until then.
	patience    context.Context
	endPatience context.CancelFunc

	mu     sync.Mutex
	phase  string
	since  time.Time         // when the chaos phase began
	active map[int]*striking // faults in force
	met    map[meeting]int

	zxids zxidTimes

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
	watch.Go(func() { r.observer.watch(watching) }) // ends with unwatch, as the next does
	asks := serverWatch{every: serverPoll, patient: serverPatience, record: r.journal.record, idle: r.journal.idle}
	asks.knows = func(zxid int64) { r.zxids.saw(zxid, r.journal.Elapsed()) }
	watch.Go(func() { asks.run(watching, r.cfg.Ensemble.Servers()) })

	diverged, _, err := r.divergedServers(r.life, nil)
	if err != nil {
		r.warn("not all servers' output could be read: %v", err)
	}
	r.enter(histories.PhaseChaos)
	recovery := make(chan struct{}) // closed when the recovery phase begins
	chaos, over := context.WithTimeout(r.life, r.cfg.Duration)
	defer over()
	stuck := r.start(chaos, recovery)
	report, nemesisErr := nemesis.Run(chaos, world{r}, r.cfg.Kinds, *r.cfg.Schedule, r.journal)
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
		r.settle()
		r.enter(histories.PhaseEnd)
		if err := r.countNodes(r.life, &r.result.Census); err != nil {
			r.warn("not all nodes and watches could be counted: %v", err)
		}
		r.countKept(r.life, &r.result.Census)
		var compareErr error
		if r.result.Census.Disagreements, compareErr = r.compareServers(r.life); compareErr != nil {
			r.warn("not all servers could be compared: %v", compareErr)
		}
		_, diverged, readErr := r.divergedServers(r.life, diverged)
		if readErr != nil {
			r.warn("not all servers' output could be read: %v", readErr)
		}
		r.result.Census.Diverged = diverged
	}
	unwatch()
	watch.Wait()
	err = errors.Join(err, r.tearDown())
	interrupted = interrupted || r.life.Err() != nil
	if !interrupted {
		r.countGoroutines(r.life, &r.result.Census)
		r.countConnects(&r.result.Census)
		r.judgeLateness(&r.result.Census)
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
	if err := r.prepare(opening, servers); err != nil {
		return fmt.Errorf("%w: %w", ErrNoEnsemble, err)
	}
	if r.cfg.Workers.N > 0 {
		if err := r.startWorkers(opening); err != nil {
			return err
		}
	}
	var g errgroup.Group
	for _, c := range r.clients {
		g.Go(func() error { return c.open(opening) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, c := range r.clients {
		for _, g := range r.groups {
			if !lock.Offers(c.client(), g.Recipe) {
				return fmt.Errorf("target %s offers %s, but its client has no such methods", r.cfg.Target.Name(), g.Recipe)
			}
		}
		// Faults, bounds and the history's header go by it.
		granted := c.wire.sessionTimeout()
		if granted == 0 {
			return fmt.Errorf("target %s does not connect through Env.Dial", r.cfg.Target.Name())
		}
		if granted != r.cfg.SessionTimeout {
			return fmt.Errorf("the servers grant sessions of %v, not the %v asked for: ask for what they grant", granted, r.cfg.SessionTimeout)
		}
	}
	r.idle = len(running(r.before, []lock.Target{r.cfg.Target}))
	return nil
}

// prepare opens the observer, puts on the servers what the run needs there, and opens
// the links.
func (r *run) prepare(ctx context.Context, servers []string) error {
	o, err := newObserver(ctx, servers, r.cfg.Auth)
	if err != nil {
		return err
	}
	o.journal, o.expired = r.journal, r.sessionExpired
	r.observer = o
	root, err := o.makeRoot(r.cfg.Ensemble.Root())
	if err != nil {
		return fmt.Errorf("preparing %s: %w", r.cfg.Ensemble.Root(), err)
	}
	if err := r.putForeign(); err != nil {
		return err
	}
	if err := r.putGuarded(); err != nil {
		return fmt.Errorf("preparing the counters in ZooKeeper: %w", err)
	}
	r.name = path.Base(root)
	for i := range r.cfg.Clients {
		r.clients = append(r.clients, newClient(r, i))
	}
	r.pairUp()
	for _, h := range r.households() {
		if err := h.link(ctx); err != nil {
			return err
		}
	}
	return nil
}

// putForeign puts the foreign node into each lock's directory.
func (r *run) putForeign() error {
	if r.cfg.Foreign == "" {
		return nil
	}
	for name := range r.locks {
		dir := path.Join(r.lockRoot(), name)
		if err := errors.Join(r.observer.create(dir), r.observer.create(path.Join(dir, r.cfg.Foreign))); err != nil {
			return fmt.Errorf("preparing %s: %w", dir, err)
		}
	}
	return nil
}

// start lets the clients loose. Each runs through chaos, waits for recovery,
// and gets every lock once; the channel then has what it did not get. When all
// have come that far they try every lock, one client after the other, so that
// nobody is in anybody's way: a lock whose tries always fail would do well
// until then.
func (r *run) start(chaos context.Context, recovery <-chan struct{}) <-chan []string {
	done := make(chan []string, len(r.clients))
	var arrived atomic.Int64
	everybody, turn := make(chan struct{}), make(chan struct{}, 1)
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
			for _, name := range c.recover(bounded) {
				stuck = append(stuck, fmt.Sprintf("client %d: %s", c.index, name))
			}
			if arrived.Add(1) == int64(len(r.clients)) {
				close(everybody)
			}
			select {
			case <-everybody:
				select {
				case turn <- struct{}{}:
					c.tryAll(bounded)
					<-turn
				case <-bounded.Done():
				}
			case <-bounded.Done():
			}
			done <- stuck
		}()
	}
	return done
}

// settle settles every lock that must be, by a client that is there. It does not
// wait for a target that ignores its context.
func (r *run) settle() {
	ctx, cancel := context.WithTimeout(r.life, 2*r.cfg.SessionTimeout)
	defer cancel()
	done := make(chan struct{})
	// Ends when the target returns from its call.
	go func() {
		defer close(done)
		r.giveUps(ctx)
		for _, g := range r.groups {
			d, ok := g.driver.(settler)
			if !ok {
				continue
			}
			for _, name := range g.all() {
				if i := slices.IndexFunc(r.clients, func(c *client) bool { return c.client() != nil }); i >= 0 {
					d.settle(ctx, r.clients[i], name)
				}
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(2*r.cfg.SessionTimeout + returnWithin):
		r.warn("locks could not be settled before what is left was counted")
	}
}

// recoveryGrace is what recovery goes on for after its bound, so that a client
// that did not progress within the bound is on record as such.
const recoveryGrace = 100 * time.Millisecond

func (r *run) enter(phase string) {
	r.mu.Lock()
	now := time.Now()
	switch phase {
	case histories.PhaseChaos:
		r.since = now
	case histories.PhaseRecovery:
		// The bound is counted from what is on record below.
		bound := r.promises.ProgressBound + recoveryGrace
		r.recoverBy = now.Add(bound)
		time.AfterFunc(bound, r.endPatience)
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
