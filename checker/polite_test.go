package checker

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// connecting is a run with these attempts to connect; its clients promise at most 20.
func connecting(clients ...histories.Connects) func(*run) {
	return func(r *run) {
		r.h.Header.Promises.Connects = 20
		r.phase(0, histories.PhaseChaos).cycle(1, 2, 0, 1).phase(5000, histories.PhaseEnd).
			add(5001, histories.Event{Type: histories.CensusDone, Process: -1, Census: &histories.Census{Connects: clients}})
	}
}

// asking is connecting, of clients that promise to ask again at most 100 times.
func asking(clients ...histories.Connects) func(*run) {
	return func(r *run) {
		r.h.Header.Promises.Repeats = 100
		connecting(clients...)(r)
	}
}

func TestPoliteReconnects(t *testing.T) {
	answers(t, PoliteReconnects, []known{
		{"as many attempts to connect as are promised", connecting(histories.Connects{Attempts: 60, Most: 20, Ago: time.Second}), verdict.Holds},
		{"one attempt to connect more than are promised", connecting(
			histories.Connects{Attempts: 60, Most: 20, Ago: time.Second},
			histories.Connects{Client: 1, Attempts: 21, Most: 21, Ago: time.Second}), verdict.Violated},
		{"each client connects once", connecting(histories.Connects{Attempts: 1, Most: 1}, histories.Connects{Client: 1, Attempts: 1, Most: 1}), verdict.NotExercised},
		{"a client asks again as often as is promised", asking(histories.Connects{Attempts: 60, Most: 20, Repeats: 100}), verdict.Holds},
		{"a client asks again and again, and connects once", asking(histories.Connects{Attempts: 1, Most: 1, Repeats: 101, RepeatsAgo: time.Second}), verdict.Violated},
		{"a lock that promises nothing of what it asks again", connecting(histories.Connects{Attempts: 60, Most: 20, Repeats: 9999}), verdict.Holds},
		{"attempts to connect were not counted", connecting(), verdict.NotExercised},
		{"a lock that promises nothing of its attempts to connect", func(r *run) {
			connecting(histories.Connects{Attempts: 9999, Most: 9999})(r)
			r.h.Header.Promises.Connects = 0
		}, verdict.NotPromised},
	})
}

func TestWhoDoesNotConnectAgainIsNotHeldToHaveDoneSo(t *testing.T) {
	r := newRun(t)
	connecting(histories.Connects{Attempts: 1, Most: 1})(r)
	if v := r.report().Verdict(PoliteReconnects); v.Expected || v.Reason != "no client had to connect again" {
		t.Errorf("%+v", v)
	}
}

func TestAHastyClientIsNamedWithItsFault(t *testing.T) {
	r := newRun(t)
	r.h.Header.Promises.Connects = 20
	fault := &histories.Fault{ID: 1, Name: "cut-quorum", Targets: []string{"server 1"}}
	r.phase(1, histories.PhaseChaos).
		add(1000, histories.Event{Type: histories.FaultStart, Process: -1, Fault: fault}).
		add(2000, histories.Event{Type: histories.FaultStop, Process: -1, Fault: fault}).
		phase(5000, histories.PhaseEnd).
		add(5001, histories.Event{Type: histories.CensusDone, Process: -1, Census: &histories.Census{
			Connects: []histories.Connects{{Client: 3, Attempts: 4000, Most: 3812, Ago: 3901 * time.Millisecond}},
		}})
	v := r.report().Verdict(PoliteReconnects)
	if v.Outcome != verdict.Violated || len(v.Witnesses) != 1 {
		t.Fatalf("%+v", v)
	}
	w := v.Witnesses[0]
	if want := "client 3 tried to connect 3812 times within 360 ms, and promises at most 20; 4000 in all"; w.What != want {
		t.Errorf("got  %s\nwant %s", w.What, want)
	}
	if w.From != 1100*time.Millisecond || w.To != 1460*time.Millisecond || len(w.Faults) != 1 {
		t.Errorf("from %v to %v, with %d faults", w.From, w.To, len(w.Faults))
	}
}
