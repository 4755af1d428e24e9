package workload

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// ears are the functions that hear every event on record.
type ears struct {
	mu   sync.Mutex
	all  map[int]func(*histories.Event)
	made int
}

// heard is called with each event on record.
func (r *run) heard(e *histories.Event) {
	r.Faults.Step(e)
	for _, f := range r.ears.functions() {
		f(e)
	}
}

// functions returns the functions, in the order in which they came. They are not called with the
// mutex locked: a process may be paused during a call.
func (a *ears) functions() (all []func(*histories.Event)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(a.all)) {
		all = append(all, a.all[n])
	}
	return all
}

var _ fault.Searcher = runView{}

// Hear implements fault.Searcher.
func (w runView) Hear(f func(*histories.Event)) (stop func()) {
	w.ears.mu.Lock()
	defer w.ears.mu.Unlock()
	if w.ears.all == nil {
		w.ears.all = map[int]func(*histories.Event){}
	}
	w.ears.made++
	n := w.ears.made
	w.ears.all[n] = f
	return func() {
		w.ears.mu.Lock()
		defer w.ears.mu.Unlock()
		delete(w.ears.all, n)
	}
}

// Cancel implements fault.Searcher.
func (w runView) Cancel(client int) { w.clients[client].Cancel() }

// Crash implements fault.Searcher.
func (w runView) Crash(client int) { w.clients[client].Perish() }

// Hit implements fault.Searcher.
func (w runView) Hit(client int) { w.clients[client].Strike(0) }

// firstStrike is the id of the first fault of Strike: those of a schedule are smaller.
const firstStrike = 1 << 20

// Strike implements fault.Searcher.
func (w runView) Strike(ctx context.Context, f fault.Fault) error {
	var hit []int
	for _, c := range w.Clients() {
		if slices.Contains(f.Clients, c.Index) {
			hit = append(hit, c.Process)
		}
	}
	on := f.Record(firstStrike+int(w.strikes.Add(1)), hit, map[string]string{"for": "0s", "draw": "0"})
	w.Journal.Append(histories.Event{Type: histories.FaultStart, Process: -1, Fault: on})
	w.Struck(on.ID, f)
	bounded, cancel := context.WithTimeout(ctx, f.HealWithin)
	defer cancel()
	err := f.Start(bounded)
	over := histories.Event{Type: histories.FaultStop, Process: -1, Fault: on}
	if err != nil {
		over.Error = err.Error()
	}
	w.Journal.Append(over)
	return err
}
