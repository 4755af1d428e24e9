package workload

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis"
)

// world shows the run to the nemesis.
type world struct{ *run }

func (w world) Ensemble() ensemble.Ensemble   { return w.cfg.Ensemble }
func (w world) SessionTimeout() time.Duration { return w.cfg.SessionTimeout }

// Clients shows holders of a recipe that was hit often compared with others as
// if they held nothing, so that no recipe is missed by the faults because it is
// held for shorter or by fewer.
func (w world) Clients() []nemesis.Client {
	due := w.due()
	out := make([]nemesis.Client, len(w.clients))
	for i, c := range w.clients {
		out[i] = c.status()
		if w.workers != nil {
			out[i].Worker = w.workers.of(i).number
		}
		out[i].Holds = slices.ContainsFunc(c.holding(), func(r histories.Recipe) bool { return due[r] })
	}
	return out
}

// ahead is how much more often than the one hit least a recipe may be hit.
const ahead = 2

// due returns the recipes whose holders are to be hit.
func (r *run) due() map[histories.Recipe]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	least := math.MaxInt
	for _, g := range r.groups {
		if g.Recipe != histories.Barrier { // which nobody holds
			least = min(least, r.hits[g.Recipe])
		}
	}
	due := make(map[histories.Recipe]bool)
	for _, g := range r.groups {
		due[g.Recipe] = r.hits[g.Recipe]-ahead <= least
	}
	return due
}

// Struck lets the clients that are hit know, so that they may hold on, and
// counts the leases that are held across the start of the fault.
func (w world) Struck(id int, f nemesis.Fault) {
	w.mu.Lock()
	w.active[id] = fmt.Sprintf("%s %v", f.Name, f.Targets)
	w.mu.Unlock()
	for _, c := range w.clients {
		if len(f.Clients) > 0 && !slices.Contains(f.Clients, c.index) {
			continue
		}
		c.mu.Lock()
		c.strikes++
		w.heldAcross.Add(int64(len(c.held)))
		c.mu.Unlock()
		for _, r := range c.holding() {
			w.mu.Lock()
			w.hits[r]++
			w.mu.Unlock()
		}
	}
}

func (w world) Healed(id int, _ nemesis.Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.active, id)
}

// Pause, Resume, Kill and Start are nemesis.Workers.

func (w world) Pause(ctx context.Context, worker int) error {
	return w.workers.all[worker-1].pause(ctx)
}
func (w world) Resume(worker int) error { return w.workers.all[worker-1].resume() }
func (w world) Kill(worker int)         { w.workers.all[worker-1].stop() }
func (w world) Start(ctx context.Context, worker int) error {
	return w.workers.all[worker-1].start(ctx)
}

var _ nemesis.Workers = world{}
