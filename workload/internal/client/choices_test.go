package client

import (
	"testing"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// The seed decides the options of the clients: the same again, and others for each client of
// the target.
func TestClientsTakeOptionsAsTheSeedSays(t *testing.T) {
	a, _, _, _ := couple(t)
	if got := a.app.choices(); got != (lock.Choices{}) {
		t.Errorf("with no share a client takes %+v", got)
	}
	a.Run.Options = 0.5
	seen := map[lock.Choices]bool{}
	for range 200 {
		first := a.app.choices()
		if again := a.app.choices(); again != first {
			t.Errorf("%+v, and then %+v", first, again)
		}
		seen[first] = true
		a.app.begun(nil)
	}
	if len(seen) != 16 {
		t.Errorf("%d of 16 choices are made", len(seen))
	}
}

func TestWhatAListenerIsToldIsOnRecord(t *testing.T) {
	a, b, _, events := couple(t)
	a.Run.Promises.Says = true
	session := func() string { return "s" }
	first, second := a.standing(session), b.standing(session)
	second(histories.ConnectionConnected)
	first(histories.ConnectionConnected)
	first(histories.ConnectionClosed)
	// The first state of a client that opens after a crash is reported while it has no process
	// yet.
	a.Die("a", 1)
	third := a.standing(session)
	third(histories.ConnectionConnected)
	a.Revive()
	third(histories.ConnectionSuspended)
	var got []histories.Saying
	for _, e := range events() {
		if e.Type != histories.Says {
			continue
		}
		if e.Session != "s" {
			t.Errorf("its session is %q", e.Session)
		}
		got = append(got, histories.Saying{Connection: e.Saying.Connection, Client: e.Saying.Client})
	}
	want := []histories.Saying{{Connection: "connected", Client: 2}, {Connection: "connected", Client: 1}, {Connection: "closed", Client: 1}, {Connection: "connected", Client: 3}, {Connection: "suspended", Client: 3}}
	if len(got) != len(want) {
		t.Fatalf("on record: %+v", got)
	}
	for i := range want {
		if got[i].Connection != want[i].Connection || got[i].Client != want[i].Client {
			t.Errorf("%d: %+v, want %+v", i, got[i], want[i])
		}
	}
}
