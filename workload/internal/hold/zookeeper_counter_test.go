package hold

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/internal/servers"
	"github.com/zkverify/zkverify/workload/lock"
)

// fakeLease is a lease of no lock.
type fakeLease struct{ lost chan struct{} }

func (*fakeLease) Token() histories.Token        { return histories.Token{} }
func (l *fakeLease) Lost() <-chan struct{}       { return l.lost }
func (*fakeLease) Release(context.Context) error { return nil }

func (l *fakeLease) Valid() bool {
	select {
	case <-l.lost:
		return false
	default:
		return true
	}
}

// guarding is a lease whose guarded writes return err.
type guarding struct {
	fakeLease
	err      error
	written  []string
	released int
}

func (l *guarding) Release(context.Context) error {
	l.released++
	return nil
}

func (l *guarding) SetGuarded(_ context.Context, node string, data []byte) error {
	l.written = append(l.written, node+"="+string(data))
	return l.err
}

func TestAHolderDiesOfAWriteWhoseOutcomeNobodyKnows(t *testing.T) {
	read := &seen{guarded{lock: "lock-0"}, 41}
	for name, c := range map[string]struct {
		seen    *seen
		err     error
		written int
		want    []histories.Type
	}{
		"written":        {read, nil, 1, []histories.Type{histories.Invoke, histories.OK, histories.Invoke, histories.OK}},
		"refused":        {read, fmt.Errorf("too late: %w", lock.ErrLost), 1, []histories.Type{histories.Invoke, histories.Fail, histories.Invoke, histories.OK}},
		"not written":    {read, fmt.Errorf("%w: no such node", lock.ErrNotWritten), 1, []histories.Type{histories.Invoke, histories.Fail, histories.Invoke, histories.OK}},
		"not known":      {read, errors.New("connection closed"), 1, []histories.Type{histories.Invoke, histories.Crash}},
		"nothing to add": {nil, nil, 0, []histories.Type{histories.Invoke, histories.OK}},
	} {
		t.Run(name, func(t *testing.T) {
			h, record := heldInMemory(t, histories.Event{Type: histories.OK, Op: histories.Acquire, Lock: "lock-0", Depth: 1})
			lease := h.Lease.(*guarding)
			lease.err, h.seen = c.err, c.seen
			h.Finish(t.Context(), cycle.Plan{}, []lock.Lease{lease})
			got := record()
			if !slices.Equal(typesOf(got), c.want) {
				t.Errorf("on record: %v, want %v", typesOf(got), c.want)
			}
			if len(lease.written) != c.written || c.written > 0 && lease.written[0] != "/run-1/guarded/lock-0=42" {
				t.Errorf("written: %v", lease.written)
			}
			if first := got[0]; c.written > 0 && (first.Op != histories.Write || first.Store != histories.StoreGuarded || first.Value != 42) {
				t.Errorf("the write on record: %+v", first)
			}
		})
	}
}

// The leases are given back if another client of the application may get the lock meanwhile.
func TestAWriteMayBeUnderWayWhenTheLeaseIsGivenBack(t *testing.T) {
	h, record := heldInMemory(t, histories.Event{Type: histories.OK, Op: histories.Acquire, Lock: "lock-0", Depth: 1})
	client.New(h.Client.Run, 1).Joins(h.Client)
	lease, process := h.Lease.(*guarding), h.Client.Current()
	lease.err, h.seen = errors.New("connection closed"), &seen{guarded{lock: "lock-0"}, 41}
	h.Finish(t.Context(), cycle.Plan{}, []lock.Lease{lease})
	if got, want := typesOf(record()), []histories.Type{histories.Invoke, histories.Crash}; !slices.Equal(got, want) {
		t.Errorf("on record: %v, want %v", got, want)
	}
	if lease.released != 1 || h.Client.Current() == process || !h.Client.Left.Load() {
		t.Errorf("released %d times, process %d after %d", lease.released, h.Client.Current(), process)
	}
}

func TestOnlyWhoExcludesReadsTheCounterInZooKeeper(t *testing.T) {
	lease := &guarding{}
	r := &client.Shared{Clients: 1, Faults: journal.NewCoverage(nil, nil)}
	for name, c := range map[string]struct {
		promises histories.Promises
		plan     cycle.Plan
		event    histories.Event
		lease    lock.Lease
	}{
		"not planned":  {histories.Promises{Guards: true}, cycle.Plan{}, histories.Event{Lock: "l"}, lease},
		"not promised": {histories.Promises{}, cycle.Plan{Guarded: true}, histories.Event{Lock: "l"}, lease},
		"cannot":       {histories.Promises{Guards: true}, cycle.Plan{Guarded: true}, histories.Event{Lock: "l"}, &fakeLease{}},
		"a reader":     {histories.Promises{Guards: true}, cycle.Plan{Guarded: true}, histories.Event{Lock: "l", Mode: histories.ModeRead}, lease},
		"permits":      {histories.Promises{Guards: true}, cycle.Plan{Guarded: true}, histories.Event{Lock: "l", Permits: 1}, lease},
	} {
		r.Promises = c.promises
		h := &Hold{Holding: &journal.Holding{Event: c.event}, Client: client.New(r, 0), Lease: c.lease}
		h.zooKeeperCounter().beginGuarded(c.plan) // would need an observer
		if h.seen != nil {
			t.Errorf("%s: read %d", name, h.seen.value)
		}
	}
}

func TestOfSeveralLocksAnyOneMayGuardTheCounter(t *testing.T) {
	two := []guarded{{lock: "a"}, {lock: "b"}}
	for _, c := range []struct {
		part float64
		all  []guarded
		want string
	}{{0, two, "a"}, {0.49, two, "a"}, {0.5, two, "b"}, {0.999, two, "b"}, {0.999, two[:1], "a"}} {
		if got := oneOf((cycle.Plan{Part: c.part}), c.all); got.lock != c.want {
			t.Errorf("%v of %v: %s, want %s", c.part, c.all, got.lock, c.want)
		}
	}

	// The second is acquired once more: both still guard the write.
	h, record := heldInMemory(t, histories.Event{Type: histories.OK, Op: histories.Acquire, Parts: []histories.Part{{Lock: "a"}, {Lock: "b"}}, Depth: 1})
	both, again := h.Lease.(*guarding), &guarding{}
	h.seen = &seen{two[1], 6}
	if h.zooKeeperCounter().endGuarded([]lock.Lease{both, partLease{again, "b"}}, cycle.Plan{}) {
		t.Error("the outcome is unknown, although the write was answered")
	}
	if want := []string{"/run-1/guarded/b=7"}; !slices.Equal(both.written, want) || again.written != nil {
		t.Errorf("written by both leases: %v, want %v; by that of one alone: %v", both.written, want, again.written)
	}
	if e := record()[0]; e.Lock != "b" || e.Parts != nil || e.Value != 7 {
		t.Errorf("on record: %+v", e)
	}
}

// heldInMemory returns a hold of a lock in memory, whose lease guards writes, and the events
// that it records.
func heldInMemory(t *testing.T, acquired histories.Event) (h *Hold, record func() []histories.Event) {
	t.Helper()
	var written bytes.Buffer
	rec, err := histories.NewRecorder(&written, histories.Header{})
	if err != nil {
		t.Fatal(err)
	}
	r := &client.Shared{Clients: 1, SessionTimeout: time.Second, Life: t.Context(), Observer: &servers.Observer{Root: "/run-1"}, Faults: journal.NewCoverage(nil, nil)}
	r.Journal = &journal.Journal{Recorder: rec, Refuse: func(err error) { t.Error(err) }}
	client := client.New(r, 0)
	h = New(client, acquired, &guarding{fakeLease: fakeLease{lost: make(chan struct{})}})
	return h, func() []histories.Event {
		if !h.over {
			close(h.done)
		}
		client.Background.Wait()
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := histories.Decode(&written)
		if err != nil {
			t.Fatal(err)
		}
		return got.Events
	}
}

func typesOf(events []histories.Event) (out []histories.Type) {
	for _, e := range events {
		out = append(out, e.Type)
	}
	return out
}
