package workload

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// sharing is a client of a target, of which nothing but its end is asked for.
type sharing struct {
	lock.Client
	crashed int
}

func (s *sharing) Crash() { s.crashed++ }

// couple returns two clients that share one of the target, and what is on record.
func couple(t *testing.T) (a, b *client, target *sharing, events func() []histories.Event) {
	t.Helper()
	var record bytes.Buffer
	rec, err := histories.NewRecorder(&record, histories.Header{})
	if err != nil {
		t.Fatal(err)
	}
	r := &run{cfg: Config{Clients: 2, Pairs: 1, Target: ours("recipes")}}
	r.journal = &journal{Recorder: rec, refuse: func(err error) { t.Error(err) }}
	r.clients = []*client{newClient(r, 0), newClient(r, 1)}
	r.pairUp()
	target = &sharing{}
	w := newWire(nil, 0)
	r.clients[0].home.opened(target, w, func() {})
	for _, c := range r.clients {
		c.opened(target, w)
	}
	return r.clients[0], r.clients[1], target, func() []histories.Event {
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
	b.record(acquire)
	a.crash(histories.Event{Lock: "lock-0"})
	a.wg.Wait()
	if target.crashed != 1 {
		t.Errorf("the target crashed %d times", target.crashed)
	}
	acquire.Type = histories.OK
	b.record(acquire) // the call returns all the same
	if err := b.ifAlive(func() error { t.Error("it writes after its crash"); return nil }); err == nil {
		t.Error("it is told nothing")
	}
	if !b.buried() || b.client() != nil {
		t.Error("it goes on as if it were open")
	}
	if b.abandon(); target.crashed != 1 {
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

// Whoever has not opened again is not hit by the crash of a client that it has
// nothing of.
func TestACrashDoesNotReachWhoIsOut(t *testing.T) {
	a, b, _, events := couple(t)
	a.crash(histories.Event{Lock: "lock-0"})
	a.wg.Wait()
	if !b.buried() {
		t.Fatal("it did not crash")
	}
	again := &sharing{}
	w := newWire(nil, 0)
	a.home.opened(again, w, func() {})
	a.opened(again, w)
	a.crash(histories.Event{Lock: "lock-0"})
	a.wg.Wait()
	if got := events(); len(got) != 3 {
		t.Errorf("on record: %v; want three crashes", types(got))
	}
}

func TestWhoOpensMovesInWithTheOthers(t *testing.T) {
	_, b, target, _ := couple(t)
	b.take()
	if err := b.open(context.Background()); err != nil || b.client() != lock.Client(target) {
		t.Errorf("it has %v, %v", b.client(), err)
	}
}

func TestPairsAreOfConcurrentTargets(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  Config
		want int
	}{
		"a fifth by default":                 {Config{Target: ours("recipes"), Clients: 10}, 2},
		"as many as asked for":               {Config{Target: ours("recipes"), Clients: 10, Pairs: 4}, 4},
		"no more than there are clients":     {Config{Target: ours("recipes"), Clients: 5, Pairs: 4}, 2},
		"none when none are asked for":       {Config{Target: ours("recipes"), Clients: 10, Pairs: -1}, 0},
		"none of a target for one at a time": {Config{Target: ours("zk-lock"), Clients: 10, Pairs: 4}, 0},
		"none in worker processes":           {Config{Target: ours("recipes"), Clients: 10, Workers: Workers{N: 2}}, 0},
	} {
		if got := c.cfg.pairs(); got != c.want {
			t.Errorf("%s: %d pairs; want %d", name, got, c.want)
		}
	}
}

// A client that is doomed crashes whatever it is doing, and what it does then is not
// on record.
func TestADoomedClientCrashesInTheMiddleOfAnything(t *testing.T) {
	a, b, target, events := couple(t)
	acquire := histories.Event{Type: histories.Invoke, Op: histories.Acquire, Lock: "lock-0"}
	a.record(acquire)
	a.perish()
	a.home.members[0].wg.Wait()
	acquire.Type = histories.OK
	a.record(acquire) // the call returns all the same
	if a.perish(); target.crashed != 1 {
		t.Errorf("the target crashed %d times", target.crashed)
	}
	for _, c := range []*client{a, b} {
		if !c.buried() || c.client() != nil {
			t.Errorf("client %d goes on as if it were open", c.index)
		}
	}
	if got := types(events()); !slices.Equal(got, []histories.Type{histories.Invoke, histories.Crash, histories.Crash}) {
		t.Errorf("on record: %v", got)
	}
}

func TestACycleIsNotDoomedForEver(t *testing.T) {
	a, _, target, _ := couple(t)
	synctest.Test(t, func(t *testing.T) {
		a.doom(time.Second).Stop()
		a.doom(0).Stop()
		time.Sleep(time.Minute)
		if target.crashed != 0 {
			t.Error("it crashed when its cycle was over")
		}
	})
}

// What an observer is told between the end of a process and the next one's begin is on
// record all the same: it may be of a sibling's lease.
func TestWhatIsToldBetweenTwoProcessesIsOnRecord(t *testing.T) {
	a, _, _, events := couple(t)
	a.run.promises.Says = true
	tell := func() { a.told(lock.Telling{What: histories.ToldAcquired, Lock: "lock-0"}) }
	acquire := histories.Event{Type: histories.Invoke, Op: histories.Acquire, Lock: "lock-0", Process: 0}
	a.record(acquire)
	tell()
	acquire.Type = histories.Info
	a.record(acquire) // process 0 has ended, and still is the current one
	tell()
	a.retire()
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
