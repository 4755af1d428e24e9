package hold

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/lock"
)

func TestAPlaceAmongSeveralLocksIsThatOfTheLockItNames(t *testing.T) {
	rec := &inMemoryRecorder{}
	c := client.New(&client.Shared{Journal: &journal.Journal{Recorder: rec}, Clients: 1, Faults: journal.NewCoverage(nil, nil)}, 0)
	a := &attempt{c: c, open: true, Event: histories.Event{Op: histories.Acquire, Parts: []histories.Part{{Lock: "x"}, {Lock: "y"}}}}
	ctx := lock.WithAttempt(t.Context(), lock.Attempt{Enqueued: a.enqueued})
	lock.Enqueued(ctx, lock.Place{Lock: "y", Token: histories.Token{Zxid: 2}, Ahead: 1})
	lock.Enqueued(ctx, lock.Place{Lock: "z"})
	lock.Enqueued(ctx, lock.Place{})
	if len(rec.events) != 1 || rec.events[0].Lock != "y" || rec.events[0].Parts != nil || rec.events[0].Position != 1 {
		t.Errorf("recorded %+v", rec.events)
	}
}

// A client may wait by the node of the session that it had before.
func TestAPlaceIsThatOfTheSessionItNames(t *testing.T) {
	rec := &inMemoryRecorder{}
	c := client.New(&client.Shared{Journal: &journal.Journal{Recorder: rec}, Clients: 1, Faults: journal.NewCoverage(nil, nil)}, 0)
	a := &attempt{c: c, open: true, Event: histories.Event{Op: histories.Acquire, Lock: "x"}}
	a.enqueued(lock.Place{Token: histories.Token{Zxid: 2}, Session: "0x0000000000000007"})
	if len(rec.events) != 1 || rec.events[0].Session != "0x0000000000000007" {
		t.Errorf("recorded %+v", rec.events)
	}
}

// inMemoryRecorder is a recorder that keeps events in memory.
type inMemoryRecorder struct{ events []histories.Event }

func (m *inMemoryRecorder) Record(e histories.Event) (histories.Event, error) {
	m.events = append(m.events, e)
	return e, nil
}
func (m *inMemoryRecorder) Elapsed() time.Duration  { return 0 }
func (m *inMemoryRecorder) Failed() <-chan struct{} { return nil }
func (m *inMemoryRecorder) Err() error              { return nil }
