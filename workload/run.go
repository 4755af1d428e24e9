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
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/drive"
	"github.com/zkverify/zkverify/workload/internal/goroutines"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/internal/observer"
	"github.com/zkverify/zkverify/workload/internal/servers"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/remote"
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
	groups := cfg.groups()
	r := &run{Shared: cfg.shared(life, groups), cfg: cfg, end: end, before: goroutines.All()}
	r.Patience, r.endPatience = context.WithCancel(life)
	defer r.endPatience()
	r.Journal = &journal.Journal{Recorder: cfg.Recorder, Refuse: end}
	r.drivers = drive.New(r.Shared, cfg.Mix, groups)
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
	r.result.Ops, r.result.Cycles = r.Journal.Ops.Load(), r.Journal.Cycles.Load()
	r.result.Expired, r.result.ExpiredBusy = r.expired.Load(), r.expiredBusy.Load()
	r.result.HeldAcross = r.heldAcross.Load()
	if r.Workers != nil {
		r.result.Lateness = r.Workers.Lateness()
	}
	if cfg.Progress != nil {
		cfg.Progress(r.progress())
	}
	return r.result, err
}

// run is one run under way.
type run struct {
	*client.Shared
	cfg     Config
	end     context.CancelCauseFunc // ends life
	drivers *drive.Drivers
	clients []*client.Client
	before  map[string]string // goroutines that are not ours
	idle    int               // goroutines of the clients when they had been opened
	name    string            // unique, for the links
	stacks  []string          // goroutines that closed clients have left in workers

	expired, expiredBusy, heldAcross atomic.Int64

	// recoverBy is when recovery must be over; set before it begins. Then patience ends.
	recoverBy   time.Time
	endPatience context.CancelFunc

	mu    sync.Mutex
	phase string
	since time.Time // when the chaos phase began

	zxids servers.Times

	result Result // written by the goroutine of Run alone
}

// phases runs everything, in order, and undoes what it set up.
func (r *run) phases(ctx context.Context) (err error) {
	if err := r.setUp(ctx); err != nil {
		return errors.Join(err, r.tearDown())
	}
	watching, unwatch := context.WithCancel(context.Background())
	var watch sync.WaitGroup
	watch.Go(func() { r.Observer.Watch(watching) }) // ends with unwatch, as the next does
	asks := servers.NewWatch(r.Journal, func(zxid int64) { r.zxids.Saw(zxid, r.Journal.Elapsed()) })
	watch.Go(func() { asks.Run(watching, r.cfg.Ensemble.Servers()) })

	diverged, _, err := r.zxids.DivergedServers(r.Life, r.cfg.Ensemble, r.Journal.Elapsed(), nil)
	if err != nil {
		r.warn("not all servers' output could be read: %v", err)
	}
	r.enter(histories.PhaseChaos)
	recovery := make(chan struct{}) // closed when the recovery phase begins
	chaos, over := context.WithTimeout(r.Life, r.cfg.Duration)
	defer over()
	stuck := r.start(chaos, recovery)
	report, nemesisErr := nemesis.Run(chaos, runView{r}, r.cfg.Kinds, *r.cfg.Schedule, r.Journal)
	<-chaos.Done()
	r.result.Nemesis, r.result.Chaos = report, time.Since(r.since)
	interrupted := r.Life.Err() != nil
	if !interrupted {
		r.enter(histories.PhaseRecovery)
	}
	close(recovery)
	err = errors.Join(nemesisErr, r.join(stuck))
	interrupted = interrupted || r.Life.Err() != nil
	if !interrupted {
		r.settle()
		r.enter(histories.PhaseEnd)
		if err := r.countNodes(r.Life, &r.result.Census); err != nil {
			r.warn("not all nodes and watches could be counted: %v", err)
		}
		r.countKept(r.Life, &r.result.Census)
		var compareErr error
		if r.result.Census.Disagreements, compareErr = servers.Compare(r.Life, r.cfg.Ensemble.Servers(), r.cfg.Auth, r.Observer.Root); compareErr != nil {
			r.warn("not all servers could be compared: %v", compareErr)
		}
		_, diverged, readErr := r.zxids.DivergedServers(r.Life, r.cfg.Ensemble, r.Journal.Elapsed(), diverged)
		if readErr != nil {
			r.warn("not all servers' output could be read: %v", readErr)
		}
		r.result.Census.Diverged = diverged
	}
	unwatch()
	watch.Wait()
	err = errors.Join(err, r.tearDown())
	interrupted = interrupted || r.Life.Err() != nil
	if !interrupted {
		r.countGoroutines(r.Life, &r.result.Census)
		r.countConnects(&r.result.Census)
		r.judgeLateness(&r.result.Census)
		census := r.result.Census
		r.Journal.Append(histories.Event{Type: histories.CensusDone, Process: -1, Census: &census})
	}
	r.result.Interrupted = interrupted
	if interrupted {
		err = errors.Join(context.Cause(r.Life), err)
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
		var err error
		if r.Workers, err = remote.Start(opening, r.cfg.Workers, r.end); err != nil {
			return err
		}
	}
	var g errgroup.Group
	for _, c := range r.clients {
		g.Go(func() error { return c.Open(opening) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, c := range r.clients {
		for _, g := range r.drivers.Groups {
			if !lock.Offers(c.Target(), g.Name) {
				return fmt.Errorf("target %s offers %s, but its client has no such methods", r.cfg.Target.Name(), g.Name)
			}
		}
		// Faults, bounds and the history's header go by it.
		granted := c.SessionTimeout()
		if granted == 0 {
			return fmt.Errorf("target %s does not connect through Env.Dial", r.cfg.Target.Name())
		}
		if granted != r.cfg.SessionTimeout {
			return fmt.Errorf("the servers grant sessions of %v, not the %v asked for: ask for what they grant", granted, r.cfg.SessionTimeout)
		}
	}
	r.idle = len(goroutines.Running(r.before, []lock.Target{r.cfg.Target}))
	return nil
}

// prepare opens the observer, puts on the servers what the run needs there, and opens
// the links.
func (r *run) prepare(ctx context.Context, servers []string) error {
	o, err := observer.New(ctx, servers, r.cfg.Auth)
	if err != nil {
		return err
	}
	o.Journal, o.Expired = r.Journal, r.sessionExpired
	r.Observer = o
	root, err := o.MakeRoot(r.cfg.Ensemble.Root())
	if err != nil {
		return fmt.Errorf("preparing %s: %w", r.cfg.Ensemble.Root(), err)
	}
	if err := r.putForeign(); err != nil {
		return err
	}
	if err := r.putCounters(); err != nil {
		return fmt.Errorf("preparing the counters in ZooKeeper: %w", err)
	}
	r.name = path.Base(root)
	for i := range r.cfg.Clients {
		r.clients = append(r.clients, client.New(r.Shared, i))
	}
	r.pairUp()
	for _, a := range client.ApplicationsOf(r.clients) {
		if err := a.Link(ctx, r.name, r.cfg.Ensemble.Servers(), r.cfg.Network); err != nil {
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
	for name := range r.Locks {
		dir := path.Join(r.Observer.LockRoot(), name)
		if err := errors.Join(r.Observer.Create(dir), r.Observer.Create(path.Join(dir, r.cfg.Foreign))); err != nil {
			return fmt.Errorf("preparing %s: %w", dir, err)
		}
	}
	return nil
}

// putCounters makes the counters in ZooKeeper that locks guard, for targets that can
// write to them.
func (r *run) putCounters() error {
	if !r.Promises.Guards {
		return nil
	}
	var guarding []string
	for name, l := range r.Locks {
		if l.Recipe.Guards() {
			guarding = append(guarding, name)
		}
	}
	return r.Observer.PutCounters(guarding)
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
			r.drivers.Chaos(chaos, c, r.elapsed)
			<-recovery
			if r.Life.Err() != nil {
				done <- nil
				return
			}
			bounded, cancel := context.WithDeadline(r.Life, r.recoverBy)
			defer cancel()
			var stuck []string
			for _, name := range r.drivers.Recover(bounded, c) {
				stuck = append(stuck, fmt.Sprintf("client %d: %s", c.Index, name))
			}
			if arrived.Add(1) == int64(len(r.clients)) {
				close(everybody)
			}
			select {
			case <-everybody:
				select {
				case turn <- struct{}{}:
					r.drivers.TryAll(bounded, c)
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
	ctx, cancel := context.WithTimeout(r.Life, 2*r.cfg.SessionTimeout)
	defer cancel()
	done := make(chan struct{})
	// Ends when the target returns from its call.
	go func() {
		defer close(done)
		r.drivers.Settle(ctx, r.clients)
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
		bound := r.Promises.ProgressBound + recoveryGrace
		r.recoverBy = now.Add(bound)
		time.AfterFunc(bound, r.endPatience)
	}
	r.phase = phase
	r.mu.Unlock()
	r.Journal.Append(histories.Event{Type: histories.PhaseStart, Process: -1, Phase: phase})
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
		if c.BusyIn(lock.SessionName(session), c.SessionName()) {
			r.expiredBusy.Add(1)
		}
	}
}
