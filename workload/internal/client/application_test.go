package client

import (
	"bytes"
	"context"
	"net"
	"slices"
	"testing"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/inprocess"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/internal/servers"
	"github.com/zkverify/zkverify/workload/lock"
)

// sharing is a client of a target of which only its end is used.
type sharing struct {
	lock.Client
	crashed int
}

func (s *sharing) Crash() { s.crashed++ }

// couple returns two clients that share a client of the target, and the events on record.
func couple(t *testing.T) (a, b *Client, target *sharing, events func() []histories.Event) {
	t.Helper()
	var record bytes.Buffer
	rec, err := histories.NewRecorder(&record, histories.Header{})
	if err != nil {
		t.Fatal(err)
	}
	r := &Shared{Clients: 2, Faults: journal.NewCoverage(nil, nil), Journal: &journal.Journal{Recorder: rec, Refuse: func(err error) { t.Error(err) }}, Observer: new(servers.Observer)}
	a, b = New(r, 0), New(r, 1)
	b.Joins(a)
	target = &sharing{}
	w := inprocess.NewWire(nil, new(net.Dialer), 0, 1)
	a.app.opened(target, w, func() {})
	a.opened(target, w)
	b.opened(target, w)
	return a, b, target, func() []histories.Event {
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		h, err := histories.Decode(&record)
		if err != nil {
			t.Fatal(err)
		}
		return h.Events
	}
}

func TestWhoSharesASessionCrashesWithIt(t *testing.T) {
	a, b, target, events := couple(t)
	acquire := histories.Event{Type: histories.Invoke, Op: histories.Acquire, Lock: "lock-0", Process: 1}
	b.Record(acquire)
	a.Crash(histories.Event{Lock: "lock-0"})
	a.Background.Wait()
	if target.crashed != 1 {
		t.Errorf("the target crashed %d times", target.crashed)
	}
	acquire.Type = histories.OK
	b.Record(acquire) // the call still returns
	if err := b.IfAlive(func() error { t.Error("it writes after its crash"); return nil }); err == nil {
		t.Error("it is told nothing")
	}
	if !b.buried() || b.Target() != nil {
		t.Error("it goes on as if it were open")
	}
	if b.Abandon(); target.crashed != 1 {
		t.Error("the target crashed again")
	}
	got := events()
	if want := []histories.Type{histories.Invoke, histories.Crash, histories.Crash}; !slices.Equal(types(got), want) {
		t.Fatalf("on record: %v; want %v", types(got), want)
	}
	if got[1].Process != 0 || got[2].Process != 1 {
		t.Errorf("processes %d and %d crashed", got[1].Process, got[2].Process)
	}
}

// A client that has not opened again is not hit by the crash of a client with which it shares
// nothing any more.
func TestACrashDoesNotReachWhoIsOut(t *testing.T) {
	a, b, _, events := couple(t)
	a.Crash(histories.Event{Lock: "lock-0"})
	a.Background.Wait()
	if !b.buried() {
		t.Fatal("it did not crash")
	}
	again := &sharing{}
	w := inprocess.NewWire(nil, new(net.Dialer), 0, 1)
	a.app.opened(again, w, func() {})
	a.opened(again, w)
	a.Crash(histories.Event{Lock: "lock-0"})
	a.Background.Wait()
	if got := events(); len(got) != 3 {
		t.Errorf("on record: %v; want three crashes", types(got))
	}
}

func TestWhoOpensMovesInWithTheOthers(t *testing.T) {
	_, b, target, _ := couple(t)
	b.take()
	if err := b.Open(context.Background()); err != nil || b.Target() != lock.Client(target) {
		t.Errorf("it has %v, %v", b.Target(), err)
	}
}

// A client that is doomed crashes in the middle of its activity, and what it does then is not
// recorded.
func TestADoomedClientCrashesInTheMiddleOfAnything(t *testing.T) {
	a, b, target, events := couple(t)
	acquire := histories.Event{Type: histories.Invoke, Op: histories.Acquire, Lock: "lock-0"}
	a.Record(acquire)
	a.Perish()
	a.app.members[0].Background.Wait()
	acquire.Type = histories.OK
	a.Record(acquire) // the call still returns
	if a.Perish(); target.crashed != 1 {
		t.Errorf("the target crashed %d times", target.crashed)
	}
	for _, c := range []*Client{a, b} {
		if !c.buried() || c.Target() != nil {
			t.Errorf("client %d goes on as if it were open", c.Index)
		}
	}
	if got := types(events()); !slices.Equal(got, []histories.Type{histories.Invoke, histories.Crash, histories.Crash}) {
		t.Errorf("on record: %v", got)
	}
}

// A notification to an observer between the end of a process and the beginning of the next is
// still recorded: it may be of a sibling's lease.
func TestWhatIsToldBetweenTwoProcessesIsOnRecord(t *testing.T) {
	a, _, _, events := couple(t)
	a.Run.Promises.Says = true
	a.Run.Locks = map[string]histories.Lock{"lock-0": {Recipe: histories.Mutex}}
	tell := func() { a.told(lock.Notification{What: histories.ToldAcquired, Lock: "lock-0"}) }
	acquire := histories.Event{Type: histories.Invoke, Op: histories.Acquire, Lock: "lock-0", Process: 0}
	a.Record(acquire)
	tell()
	acquire.Type = histories.Info
	a.Record(acquire) // process 0 has ended, and still is the current one
	tell()
	a.Retire()
	tell()
	var of []int
	for _, e := range events() {
		if e.Type == histories.Says {
			of = append(of, e.Process)
		}
	}
	if want := []int{0, 2, 2}; !slices.Equal(of, want) {
		t.Errorf("it was told in processes %v; want %v", of, want)
	}
}
