package workload

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
)

// world shows the run to the nemesis.
type world struct{ *run }

func (w world) Ensemble() ensemble.Ensemble   { return w.cfg.Ensemble }
func (w world) SessionTimeout() time.Duration { return w.cfg.SessionTimeout }

func (w world) Clients() []fault.Client {
	out := make([]fault.Client, len(w.clients))
	for i, c := range w.clients {
		out[i] = c.status()
		if w.workers != nil {
			out[i].Worker = w.workers.of(i).number
		}
	}
	return out
}

// Struck lets the clients that are hit know, so that they may hold on, and
// counts the leases that are held across the start of the fault. Of a fault that
// hits everybody, those hold on whose server it hits: else nobody would do
// anything but hold on.
func (w world) Struck(id int, f fault.Fault) {
	w.mu.Lock()
	w.active[id] = &striking{fault: f, text: fmt.Sprintf("%s %v", f.Name, f.Targets), seen: make(map[met]bool)}
	w.mu.Unlock()
	for _, c := range w.clients {
		if len(f.Clients) > 0 && !slices.Contains(f.Clients, c.index) {
			continue
		}
		w.count(c.holding())
		linked := c.status().Linked
		c.mu.Lock()
		if len(f.Clients) > 0 || len(f.Servers) == 0 || slices.Contains(f.Servers, linked) {
			c.strikes++
			c.endure = time.Now().Add(f.Endure)
		}
		w.heldAcross.Add(int64(len(c.held)))
		c.mu.Unlock()
		w.meet(c)
	}
}

func (w world) Healed(id int, _ fault.Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.active, id)
}

// Sent is faults.Listener.
func (w world) Sent(client int) time.Time {
	c := w.clients[client]
	c.mu.Lock()
	own, ok := c.wire.(*wire)
	c.mu.Unlock()
	if !ok {
		return time.Time{} // it lives in a worker process
	}
	return own.lastSent()
}

// Pause, Resume, Kill and Start are fault.Workers.

func (w world) Pause(ctx context.Context, worker int) error {
	return w.workers.all[worker-1].pause(ctx)
}
func (w world) Resume(worker int) error { return w.workers.all[worker-1].resume() }
func (w world) Kill(worker int)         { w.workers.all[worker-1].stop() }
func (w world) Start(ctx context.Context, worker int) error {
	return w.workers.all[worker-1].start(ctx)
}

var (
	_ fault.Workers        = world{}
	_ faults.Administrator = world{}
	_ faults.Listener      = world{}
)
