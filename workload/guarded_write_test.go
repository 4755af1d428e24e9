package workload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// guarding is a lease whose guarded writes end as told.
type guarding struct {
	memoryLease
	err     error
	written []string
}

func (l *guarding) SetGuarded(_ context.Context, node string, data []byte) error {
	l.written = append(l.written, node+"="+string(data))
	return l.err
}

func TestAHolderDiesOfAWriteWhoseOutcomeNobodyKnows(t *testing.T) {
	seen := int64(41)
	for name, c := range map[string]struct {
		seen    *int64
		err     error
		written int
		want    []histories.Type
	}{
		"written":        {&seen, nil, 1, []histories.Type{histories.Invoke, histories.OK, histories.Invoke, histories.OK}},
		"refused":        {&seen, fmt.Errorf("too late: %w", ErrLost), 1, []histories.Type{histories.Invoke, histories.Fail, histories.Invoke, histories.OK}},
		"nobody knows":   {&seen, errors.New("connection closed"), 1, []histories.Type{histories.Invoke, histories.Crash}},
		"nothing to add": {nil, nil, 0, []histories.Type{histories.Invoke, histories.OK}},
	} {
		t.Run(name, func(t *testing.T) {
			var record bytes.Buffer
			rec, err := histories.NewRecorder(&record, histories.Header{})
			if err != nil {
				t.Fatal(err)
			}
			m := newMemory()
			<-m.turn // it is held
			r := &run{cfg: Config{Clients: 1, SessionTimeout: time.Second}, life: t.Context(), observer: &observer{root: "/run-1"}}
			r.journal = &journal{Recorder: rec, refuse: func(err error) { t.Error(err) }}
			client := newClient(r, 0)
			lease := &guarding{memoryLease: memoryLease{m: m, lost: make(chan struct{})}, err: c.err}
			acquired := histories.Event{Type: histories.OK, Op: histories.Acquire, Lock: "lock-0", Depth: 1}
			h := newHold(client, acquired, lease)
			h.seen = c.seen
			h.finish(t.Context(), cycle{}, []Lease{lease})
			client.wg.Wait()
			if err := rec.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := histories.Decode(&record)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(types(got.Events), c.want) {
				t.Errorf("on record: %v, want %v", types(got.Events), c.want)
			}
			if len(lease.written) != c.written || c.written > 0 && lease.written[0] != "/run-1/guarded/lock-0=42" {
				t.Errorf("written: %v", lease.written)
			}
			if first := got.Events[0]; c.written > 0 && (first.Op != histories.Write || first.Store != histories.StoreGuarded || first.Value != 42) {
				t.Errorf("the write on record: %+v", first)
			}
		})
	}
}

func TestOnlyTheWriterOfOneLockReadsTheCounterInZooKeeper(t *testing.T) {
	lease := &guarding{}
	r := &run{cfg: Config{Clients: 1}}
	for name, c := range map[string]struct {
		promises histories.Promises
		plan     cycle
		event    histories.Event
		lease    Lease
	}{
		"not planned":   {histories.Promises{Guards: true}, cycle{}, histories.Event{Lock: "l"}, lease},
		"not promised":  {histories.Promises{}, cycle{guarded: true}, histories.Event{Lock: "l"}, lease},
		"cannot":        {histories.Promises{Guards: true}, cycle{guarded: true}, histories.Event{Lock: "l"}, &memoryLease{}},
		"a reader":      {histories.Promises{Guards: true}, cycle{guarded: true}, histories.Event{Lock: "l", Mode: histories.ModeRead}, lease},
		"several locks": {histories.Promises{Guards: true}, cycle{guarded: true}, histories.Event{Parts: []histories.Part{{Lock: "l"}}}, lease},
		"permits":       {histories.Promises{Guards: true}, cycle{guarded: true}, histories.Event{Lock: "l", Permits: 1}, lease},
	} {
		r.promises = c.promises
		h := &hold{c: newClient(r, 0), event: c.event, lease: c.lease}
		h.beginGuarded(c.plan) // would need an observer
		if h.seen != nil {
			t.Errorf("%s: read %d", name, *h.seen)
		}
	}
}
