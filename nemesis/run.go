package nemesis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/nemesis/fault"

	"github.com/zkverify/zkverify/histories"
)

// Recorder records faults. [histories.Recorder] is one.
type Recorder interface {
	Record(histories.Event) (histories.Event, error)
}

// Report is the result of carrying out a schedule.
type Report struct {
	Struck  int       // faults that were in force
	Skipped []Skipped // steps that could not be carried out
	// Late lists the delay of each edge that the run did not cut short: Start or
	// Stop was called that long after its time. The time that a step took to
	// find a client or server to hit does not count; it is in Looked.
	Late, Looked []time.Duration
}

// Skipped is a step that could not be carried out, with the reason.
type Skipped struct {
	Step   Step
	Reason string
}

// The time that a step waits for a client in the state that it is aimed at, and then
// again for a client in any state. Faults of servers wait longer: a schedule has few of
// them.
const (
	patience       = 800 * time.Millisecond
	serverPatience = 2500 * time.Millisecond
	glance         = 2 * time.Millisecond
	// quiet is the time after which a step looks again though no event was recorded: a link
	// that comes up, or the end of another fault, may not be recorded.
	quiet = 20 * time.Millisecond
)

// Run carries the schedule out and returns when it has ended and every fault
// is healed: at the end of the last step, or early when ctx ends. The error
// names the faults that did not heal in time. The end of ctx and skipped steps are
// no errors. Kinds are the faults that the schedule may name: those of package
// faults, and any of your own.
func Run(ctx context.Context, w fault.World, kinds fault.Kinds, schedule Schedule, rec Recorder) (Report, error) {
	r := &runner{world: w, kinds: kinds, rec: rec, busy: make(map[int]bool)}
	if err := kinds.Check(); err != nil {
		return Report{}, err
	}
	for i, step := range schedule.Steps {
		if err := step.check(kinds); err != nil {
			return Report{}, fmt.Errorf("step %d of the schedule: %w", i+1, err)
		}
	}
	start := time.Now()
	var wg sync.WaitGroup
	for i, step := range schedule.Steps {
		// Each goroutine ends with its step, or soon after ctx.
		wg.Go(func() {
			if due := start.Add(step.At); wait.For(ctx, time.Until(due)) {
				r.carryOut(ctx, i+1, step, due)
			}
		})
	}
	wg.Wait()
	return r.report, errors.Join(r.errs...)
}

type runner struct {
	world fault.World
	kinds fault.Kinds
	rec   Recorder

	mu          sync.Mutex
	busy        map[int]bool // clients that a fault hits
	serversBusy bool
	clocksBusy  bool
	report      Report
	errs        []error
}

func (r *runner) carryOut(ctx context.Context, id int, step Step, due time.Time) {
	looking := time.Now()
	f, err := r.prepare(ctx, step)
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.report.Skipped = append(r.report.Skipped, Skipped{step, err.Error()})
		return
	}
	looked := time.Since(looking)
	hit := r.processes(f, nil)
	late := r.edge(due.Add(looked), looked)
	edge := step.edge()
	edge["late"], edge["looked"] = late.String(), looked.String()
	// Before Start, so that no effect of the fault is recorded before the fault.
	_, _ = r.rec.Record(histories.Event{Type: histories.FaultStart, Process: -1, Fault: f.Record(id, hit, edge)})
	watcher, watched := r.world.(fault.Watcher)
	if watched {
		watcher.Struck(id, f)
	}
	healed := map[string]string{}
	heal := time.Now().Add(step.For)
	startErr := within(ctx, f.HealWithin, f.Start)
	if startErr == nil && wait.For(ctx, time.Until(heal)) && step.For > 0 {
		healed["late"] = r.edge(heal, -1).String()
	}
	var stopErr error
	if f.Stop != nil {
		stopping := time.Now()
		// The end of the run must not keep a fault from being healed.
		stopErr = within(context.WithoutCancel(ctx), f.HealWithin, f.Stop)
		healed["healing"] = time.Since(stopping).String()
	}
	if f.Came != nil {
		maps.Copy(healed, f.Came())
	}
	stop := histories.Event{Type: histories.FaultStop, Process: -1, Fault: f.Record(id, r.processes(f, hit), healed)}
	if err := errors.Join(startErr, stopErr); err != nil {
		stop.Error = err.Error()
	}
	if watched {
		watcher.Healed(id, f)
	}
	_, _ = r.rec.Record(stop)
	r.finish(step, f, startErr, stopErr)
}

// edge adds the delay of an edge that is due to the report, with the time it took to
// find a client or server to hit, unless that is negative.
func (r *runner) edge(due time.Time, looked time.Duration) time.Duration {
	late := time.Since(due)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Late = append(r.report.Late, late)
	if looked >= 0 {
		r.report.Looked = append(r.report.Looked, looked)
	}
	return late
}

// prepare makes the step's fault and reserves the clients and servers that it hits. It
// waits a while for a client in the state that the step is aimed at, then for any client.
func (r *runner) prepare(ctx context.Context, step Step) (fault.Fault, error) {
	kind, err := r.kinds.Named(step.Fault)
	if err != nil {
		return fault.Fault{}, err
	}
	start, look := time.Now(), patience
	if kind.OfServers() {
		look = serverPatience
	}
	var why error
	for {
		exact := time.Since(start) < look
		f, err := r.reserve(ctx, kind, step.Pick, exact)
		if why == nil || ctx.Err() == nil {
			why = err // an error that the end of the run caused is no reason
		}
		switch {
		case err == nil:
			return f, nil
		case !errors.Is(err, fault.ErrNobody), time.Since(start) > 2*look:
			return fault.Fault{}, err
		case !r.awaitNews(ctx):
			return fault.Fault{}, fmt.Errorf("the run ended: %w", why)
		}
	}
}

// awaitNews waits until the step should look again for a client or server to hit. It reports
// false if ctx ended.
func (r *runner) awaitNews(ctx context.Context) bool {
	counter, counts := r.world.(fault.Recorder)
	if !counts {
		return wait.For(ctx, glance)
	}
	looked, before := time.Now(), counter.Recorded()
	for wait.For(ctx, glance) {
		if counter.Recorded() != before || time.Since(looked) >= quiet {
			return true
		}
	}
	return false
}

func (r *runner) reserve(ctx context.Context, kind fault.Kind, pick fault.Pick, exact bool) (fault.Fault, error) {
	leader := 0
	if kind.OfServers() {
		if !kind.Needs.MetBy(r.world.Ensemble()) {
			return fault.Fault{}, kind.NotOn(r.world.Ensemble())
		}
		// The question is asked before the lock is taken: during an election the
		// answer takes long, and other steps must not wait for it.
		var err error
		if leader, err = leaderOf(ctx, r.world.Ensemble()); err != nil {
			return fault.Fault{}, err
		}
		if w, ok := r.world.(fault.Chooser); ok && exact && !w.Ripe(kind.Name) {
			return fault.Fault{}, fmt.Errorf("%w: no client is in a state that no %s has met", fault.ErrNobody, kind.Name)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	scene := fault.NewScene(r.world, kind.Name, pick, r.busy, exact)
	scene.ServersBusy, scene.ClocksBusy, scene.Leader = r.serversBusy, r.clocksBusy, leader
	f, err := kind.Make(scene)
	if err != nil {
		return fault.Fault{}, err
	}
	for _, c := range append(slices.Clone(f.Clients), f.Reserves...) {
		r.busy[c] = true
	}
	if len(f.Servers) > 0 {
		r.serversBusy = true
	}
	if len(f.Clocks) > 0 {
		r.clocksBusy = true
	}
	return f, nil
}

func (r *runner) finish(step Step, f fault.Fault, startErr, stopErr error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range append(slices.Clone(f.Clients), f.Reserves...) {
		delete(r.busy, c)
	}
	if len(f.Servers) > 0 {
		r.serversBusy = false
	}
	if len(f.Clocks) > 0 {
		r.clocksBusy = false
	}
	switch {
	case stopErr != nil:
		r.errs = append(r.errs, fmt.Errorf("fault %s on %v did not heal within %v: %w", f.Name, f.Targets, f.HealWithin, stopErr))
	case startErr != nil:
		r.report.Skipped = append(r.report.Skipped, Skipped{step, startErr.Error()})
	default:
		r.report.Struck++
	}
}

// processes returns the process numbers of the clients that the fault hits: the known
// ones, and the current ones.
func (r *runner) processes(f fault.Fault, known []int) []int {
	if len(f.Clients) == 0 {
		return nil // every process
	}
	out := slices.Clone(known)
	for _, c := range r.world.Clients() {
		if slices.Contains(f.Clients, c.Index) && !slices.Contains(out, c.Process) {
			out = append(out, c.Process)
		}
	}
	return out
}

// within calls f with a deadline, and does not wait for an f that ignores it.
func within(ctx context.Context, d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	done := make(chan error, 1)
	// The goroutine ends when f does: f's context tells it to.
	go func() { done <- f(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		select {
		case err := <-done:
			return err
		case <-time.After(time.Second):
			return context.Cause(ctx)
		}
	}
}

// leaderOf asks for the leader. It has little time: a scene is soon out of date.
func leaderOf(ctx context.Context, e ensemble.Ensemble) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	leader, err := e.Leader(ctx)
	if err != nil {
		return 0, fmt.Errorf("%w: no leader: %w", fault.ErrNobody, err)
	}
	return leader, nil
}
