package workload

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/drive"
	"github.com/zkverify/zkverify/workload/internal/inprocess"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/internal/servers"
	"github.com/zkverify/zkverify/workload/lock"
)

// ErrNoEnsemble is returned by Run when the servers, or the links to them, fail before
// the run has begun.
var ErrNoEnsemble = errors.New("the servers, or the links to them, failed before the run began")

// Run drives the target through the phases of a run and records them. It
// returns when everything that it started has ended; the ensemble, the network
// and the recorder stay open.
//
// The error says why the history is not a complete record of a run: the recorder failed, a
// fault did not heal, the context ended, or the target did not return from a call. A violation
// by the lock is no error: it is in the history.
func Run(ctx context.Context, cfg Config) (Result, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Result{}, err
	}
	life, end := context.WithCancelCause(ctx)
	defer end(nil)
	groups := cfg.groups()
	r := &run{Shared: cfg.shared(life, groups), cfg: cfg, end: end, before: inprocess.Goroutines()}
	r.Patience, r.endPatience = context.WithCancel(life)
	defer r.endPatience()
	r.Journal = &journal.Journal{Recorder: cfg.Recorder, Refuse: end, Heard: r.heard}
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
	_, r.result.HeldAcross = r.Faults.Held()
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

	expired, expiredBusy atomic.Int64
	strikes              atomic.Int64 // of Strike

	endPatience context.CancelFunc // when recovery must be over: see boundRecovery

	mu    sync.Mutex
	phase string
	since time.Time // when the chaos phase began

	zxids servers.Times
	clock servers.Clock
	ears  ears

	result Result // written by the goroutine of Run alone
}

// phases runs everything, in order, and undoes what it set up.
func (r *run) phases(ctx context.Context) (err error) {
	if err := r.setUp(ctx); err != nil {
		return errors.Join(err, r.tearDown())
	}
	unwatch := r.watch()
	r.clock = servers.NewClock(r.Journal.Elapsed())
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
	recovering, recovered := context.WithCancel(r.Life)
	var bounded sync.WaitGroup
	if !interrupted {
		r.enter(histories.PhaseRecovery)
		bounded.Go(func() { r.result.Census.Write = r.boundRecovery(recovering) }) // ends with recovering
	}
	close(recovery)
	err = errors.Join(nemesisErr, r.join(stuck))
	recovered()
	bounded.Wait()
	interrupted = interrupted || r.Life.Err() != nil
	if !interrupted {
		settled := r.settle()
		r.enter(histories.PhaseEnd)
		r.countOnServers(diverged, settled)
	}
	unwatch()
	err = errors.Join(err, r.tearDown())
	r.readService()
	if interrupted = interrupted || r.Life.Err() != nil; !interrupted {
		r.countGoroutines(r.Life, &r.result.Census)
		r.countConnects(&r.result.Census)
		r.judgeLateness(&r.result.Census)
		census := r.result.Census
		r.Journal.Append(histories.Event{Type: histories.CensusDone, Process: -1, Census: &census})
		interrupted = r.Life.Err() != nil // the census was refused
	}
	r.result.Interrupted = interrupted
	if interrupted {
		err = errors.Join(context.Cause(r.Life), err)
	}
	return err
}

// watch starts to watch the sessions of clients, and the servers. The function that it returns
// ends that and waits for the end.
func (r *run) watch() (unwatch func()) {
	watching, end := context.WithCancel(context.Background())
	var both sync.WaitGroup
	both.Go(func() { r.Observer.Watch(watching) }) // ends with watching, as the next does
	asks := servers.NewWatch(r.Journal, func(zxid int64) { r.zxids.Saw(zxid, r.Journal.Elapsed()) })
	both.Go(func() { asks.Run(watching, r.cfg.Ensemble.Servers()) })
	return func() {
		end()
		both.Wait()
	}
}

// start starts the clients. Each runs through chaos, waits for recovery, and gets every lock
// once; then it sends on the channel the locks that it did not get. When all have come that far
// they try every lock, one client after the other, so that no try finds another client in its
// way: otherwise a lock whose tries always fail would not be found out.
func (r *run) start(chaos context.Context, recovery <-chan struct{}) <-chan []string {
	done := make(chan []string, len(r.clients))
	var arrived atomic.Int64
	everybody, turn := make(chan struct{}), make(chan struct{}, 1)
	for _, c := range r.clients {
		// Ends with recovery's bound; join waits for it.
		go c.Within(func() {
			r.drivers.Chaos(chaos, c, r.elapsed)
			<-recovery
			if r.Life.Err() != nil {
				done <- nil
				return
			}
			bounded := r.Patience
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
		})
	}
	return done
}

// settleWithin is the time that settling gets besides two session timeouts: a moment is enough,
// but on a busy machine the waits that get no lock may take those alone.
const settleWithin = 10 * time.Second

// askWithin is the time in session timeouts that the asks in vain of all recipes get more.
const askWithin = 10

// settle has clients ask for locks in vain, and settles every lock that must be settled, through a client that is connected, and
// reports whether that has been done. It does not wait for a target that ignores its context.
func (r *run) settle() (settled bool) {
	limit := 2*r.cfg.SessionTimeout + settleWithin
	knows := servers.Know(r.cfg.Ensemble)
	if knows {
		limit += askWithin * r.cfg.SessionTimeout
	}
	ctx, cancel := context.WithTimeout(r.Life, limit)
	defer cancel()
	done := make(chan struct{})
	// Ends when the target returns from its call.
	go func() {
		defer close(done)
		if knows { // else what an ask leaves is not known
			// By then no client connects again after a fault.
			wait.For(ctx, 2*r.cfg.SessionTimeout+lock.SilentAfter-time.Since(r.since.Add(r.result.Chaos)))
			r.drivers.AskInVain(ctx, r.clients, r.Promises.TurnBound/2)
		}
		r.drivers.Settle(ctx, r.clients)
	}()
	select {
	case <-done:
		settled = ctx.Err() == nil
	case <-time.After(limit + returnWithin):
	}
	if !settled {
		r.warn("locks could not be settled before what is left was counted: watches are not counted")
	}
	return settled
}

func (r *run) enter(phase string) {
	r.mu.Lock()
	if phase == histories.PhaseChaos {
		r.since = time.Now()
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

// sessionExpired counts a session that the observer has seen end.
func (r *run) sessionExpired(session int64) {
	r.expired.Add(1)
	for _, c := range r.clients {
		if c.BusyIn(lock.SessionName(session), c.SessionName()) {
			r.expiredBusy.Add(1)
		}
	}
}
