package hold

import (
	"slices"
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

// What observers are told of an acquire belongs to it until it returns, and what they are told of its
// lease as long as its process lives.
func TestWhatIsToldOfAnAcquireIsOnRecord(t *testing.T) {
	rec := &inMemoryRecorder{}
	shared := &client.Shared{Journal: &journal.Journal{Recorder: rec}, Clients: 1, Faults: journal.NewCoverage(nil, nil)}
	c := client.New(shared, 0)
	a := &attempt{c: c, open: true, Event: histories.Event{Op: histories.Acquire, Lock: "x", Owner: "p0"}}
	ctx := lock.WithAttempt(t.Context(), lock.Attempt{Told: a.told})
	lock.Told(ctx, lock.Notification{What: histories.ToldAcquiring, Lock: "x"}) // the target does not promise what it says
	shared.Promises.Says = true
	lock.Told(t.Context(), lock.Notification{What: histories.ToldAcquiring, Lock: "x"})
	lock.Told(ctx, lock.Notification{What: histories.ToldAcquiring, Lock: "x"})
	lock.Told(ctx, lock.Notification{What: histories.ToldAcquiring, Lock: "y"})
	lock.Told(ctx, lock.Notification{What: histories.ToldGaveUp, Lock: "x", Err: lock.ErrLost})
	a.open = false
	lock.Told(ctx, lock.Notification{What: histories.ToldGaveUp, Lock: "x", Err: lock.ErrLost})
	lock.Told(ctx, lock.Notification{What: histories.ToldRevokeRequested, Lock: "x", Token: histories.Token{Zxid: 4}, Session: 7})
	c.Record(histories.Event{Type: histories.Crash})
	lock.Told(ctx, lock.Notification{What: histories.ToldRevokeRequested, Lock: "x", Token: histories.Token{Zxid: 4}, Session: 7})
	var got []string
	for _, e := range rec.events {
		if e.Type == histories.Says {
			got = append(got, e.Owner+" "+e.Lock+" "+e.Saying.Told+" "+e.Error+" "+e.Session)
		}
	}
	want := []string{"p0 x acquiring  ", "p0 x gave-up lease lost ", "p0 x revoke-requested  0x0000000000000007"}
	if !slices.Equal(got, want) {
		t.Errorf("on record: %q, want %q", got, want)
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
