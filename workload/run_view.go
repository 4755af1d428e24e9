package workload

import (
	"context"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/workload/internal/client"
)

// runView shows the run to the nemesis.
type runView struct{ *run }

func (w runView) Ensemble() ensemble.Ensemble   { return w.cfg.Ensemble }
func (w runView) SessionTimeout() time.Duration { return w.cfg.SessionTimeout }

func (w runView) Clients() []fault.Client {
	out := make([]fault.Client, len(w.clients))
	for i, c := range w.clients {
		out[i] = c.Status()
		if w.Workers != nil {
			out[i].Worker = w.Workers.Number(i)
		}
	}
	return out
}

// Struck tells the clients that a fault hits, so that they may hold on. If the fault hits all
// clients, only those whose server it hits hold on: otherwise no client would do anything else.
func (w runView) Struck(_ int, f fault.Fault) {
	if len(f.Clocks) > 0 || f.Waits {
		return // it changes nothing that a client waits for, or not yet
	}
	for _, c := range w.clients {
		if slices.Contains(f.Clients, c.Index) || len(f.Clients) == 0 && (len(f.Servers) == 0 || slices.Contains(f.Servers, c.Status().Linked)) {
			c.Strike(f.Endure)
		}
	}
}

func (runView) Healed(int, fault.Fault) {}

// Keep implements fault.Keeper.
func (w runView) Keep(client int, endure time.Duration) bool { return w.clients[client].Keep(endure) }

// Rarest implements fault.Chooser: it prefers clients whose activity such a fault has met least
// often.
func (w runView) Rarest(kind string, aim fault.Aim, among []fault.Client, patient bool) (out []fault.Client) {
	processes := make([]int, len(among))
	for i, c := range among {
		processes[i] = c.Process
	}
	for _, i := range w.Faults.Rarest(kind, aim, processes, patient) {
		out = append(out, among[i])
	}
	return out
}

// Recorded implements fault.Recorder.
func (w runView) Recorded() int { return w.Faults.Recorded() }

// Ripe reports whether a fault of servers of this kind would now meet an activity that none of
// its kind has met; the fault waits until then.
func (w runView) Ripe(kind string) bool { return w.Faults.Ripe(kind) }

// Sent implements faults.Listener.
func (w runView) Sent(client int) time.Time { return w.clients[client].LastSent() }

// Answers implements faults.Listener.
func (w runView) Answers(client int) int { return w.clients[client].Answers() }

// Ask implements fault.Asker.
func (w runView) Ask(client int, what fault.Request) { w.clients[client].Ask(what) }

// processes returns the processes of clients: the worker processes, or else one process for
// each application.
func (w runView) processes() fault.Workers {
	if w.Workers != nil {
		return w.Workers
	}
	return client.Processes(w.clients)
}

// Pause, Resume, Kill and Start implement fault.Workers.

func (w runView) Pause(ctx context.Context, worker int) error {
	return w.processes().Pause(ctx, worker)
}
func (w runView) Resume(worker int) error { return w.processes().Resume(worker) }
func (w runView) Kill(worker int)         { w.processes().Kill(worker) }
func (w runView) Start(ctx context.Context, worker int) error {
	return w.processes().Start(ctx, worker)
}

var (
	_ fault.Workers        = runView{}
	_ fault.Recorder       = runView{}
	_ faults.Administrator = runView{}
	_ faults.Listener      = runView{}
	_ fault.Asker          = runView{}
)

// Node implements faults.Administrator.
func (w runView) Node(client int, draw uint32) (faults.Node, bool) {
	c := w.clients[client]
	all := c.Stands()
	if len(all) == 0 {
		return faults.Node{}, false
	}
	s := all[int(draw)%len(all)]
	session := c.Status().Session
	var sub int32
	if s.Node != "" {
		sub = s.Token.Sub // else the node of the transaction is deleted
	}
	return faults.Node{
		Lock: s.Lock, Token: s.Token.Zxid, Sub: sub, Session: session, Permits: s.Permits,
		Delete: func(ctx context.Context) error {
			return w.Observer.DeleteNode(ctx, s, session)
		},
	}, true
}
