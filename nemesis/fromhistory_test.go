package nemesis

import (
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/states"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
)

// tape records a run as a history does.
type tape struct {
	start  time.Time
	mu     sync.Mutex
	events []histories.Event
}

func (r *tape) Record(e histories.Event) (histories.Event, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Time = time.Since(r.start)
	r.events = append(r.events, e)
	return e, nil
}

func TestTheScheduleOfARecordedRunIsTheOneThatWasCarriedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(fault.Client{Linked: 1, States: []states.State{states.Holding}}, fault.Client{Linked: 1, States: []states.State{states.Waiting}})
		said := Schedule{[]Step{
			{At: time.Second, For: 2 * time.Second, Fault: "latency", Pick: fault.Pick{Aim: fault.AtWaiter, Draw: 17, Links: fault.OneLink, Params: map[string]string{"latency": "80ms", "jitter": "3ms"}}},
			{At: 4 * time.Second, For: time.Second, Fault: "down", Pick: fault.Pick{Aim: fault.AtHolder, Draw: 4}},
		}}
		rec := &tape{start: time.Now()}
		time.Sleep(3 * time.Second) // setting up takes time
		_, _ = rec.Record(histories.Event{Type: histories.PhaseStart, Process: -1, Phase: histories.PhaseChaos})
		if _, err := Run(t.Context(), w, faults.List(), said, rec); err != nil {
			t.Fatal(err)
		}
		got, err := FromHistory(&histories.History{Events: rec.events}, faults.List())
		if err != nil {
			t.Fatal(err)
		}
		holder, waiter := 0, 1
		want := Schedule{[]Step{said.Steps[0], said.Steps[1]}}
		want.Steps[0].Pick.Client, want.Steps[1].Pick.Client = &waiter, &holder
		want.Steps[1].Pick.Links = got.Steps[1].Pick.Links // drawn, and recorded
		if got.Steps[1].Pick.Links == "" || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	})
}

func TestWhatWasDoneToTheLeaderIsDoneToTheLeaderAgain(t *testing.T) {
	event := func(kind histories.Type, f histories.Fault, at time.Duration) histories.Event {
		return histories.Event{Type: kind, Process: -1, Time: at, Fault: &f}
	}
	for name, c := range map[string]struct {
		fault histories.Fault
		want  fault.Pick
	}{
		"it led":      {histories.Fault{Name: "kill-server", Targets: []string{"server 2"}, Params: map[string]string{"role": "leader", "for": "1s"}}, fault.Pick{Server: fault.TheLeader}},
		"it followed": {histories.Fault{Name: "kill-server", Targets: []string{"server 2"}, Params: map[string]string{"role": "follower", "for": "1s"}}, fault.Pick{Server: "2"}},
		"the bridge":  {histories.Fault{Name: "bridge", Targets: []string{"server 1", "server 3"}, Params: map[string]string{"bridge": "server 2", "for": "1s"}}, fault.Pick{Server: "2"}},
		"one way":     {histories.Fault{Name: "one-way", Targets: []string{"server 3 -> server 1"}, Params: map[string]string{"follower": "server 3", "lost": "to-leader", "for": "1s"}}, fault.Pick{Server: "3", Params: map[string]string{"lost": "to-leader"}}},
		"a failpoint": {histories.Fault{Name: "failpoint", Targets: []string{"server 3"}, Params: map[string]string{"role": "follower", "point": "diff-sync", "action": "delay", "delay": "30ms", "for": "1s", "draw": "8"}}, fault.Pick{Server: "3", Draw: 8, Params: map[string]string{"point": "diff-sync", "action": "delay", "delay": "30ms"}}},
		"no length":   {histories.Fault{Name: "isolate-leader", Targets: []string{"server 2"}}, fault.Pick{}},
	} {
		t.Run(name, func(t *testing.T) {
			c.fault.ID = 9
			got, err := FromHistory(&histories.History{Events: []histories.Event{event(histories.FaultStart, c.fault, 3*time.Second), event(histories.FaultStop, c.fault, 4*time.Second)}}, faults.List())
			want := Schedule{[]Step{{At: 3 * time.Second, For: time.Second, Fault: c.fault.Name, Pick: c.want}}}
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, error %v; want %+v", got, err, want)
			}
		})
	}
	if _, err := FromHistory(&histories.History{Events: []histories.Event{event(histories.FaultStart, histories.Fault{Name: "partition-halves"}, 0)}}, faults.List()); err == nil {
		t.Error("a fault of Jepsen's was taken for one of ours")
	}
}

func TestEdgesThatAreLateAreCountedButNotTheSearchForSomebodyToHit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(fault.Client{Linked: 1})
		time.AfterFunc(time.Second+300*time.Millisecond, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.clients[0].States = []states.State{states.Holding}
		})
		report, err := Run(t.Context(), w, faults.List(), Schedule{[]Step{{At: time.Second, For: time.Second, Fault: "down", Pick: fault.Pick{Aim: fault.AtHolder}}}}, w)
		if err != nil || len(report.Late) != 2 || report.Late[0] != 0 || report.Late[1] != 0 || len(report.Looked) != 1 || report.Looked[0] < 300*time.Millisecond {
			t.Errorf("report %+v, error %v", report, err)
		}
	})
}
