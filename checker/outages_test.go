package checker

import (
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

func TestOutagesThatNoFaultExplainsAreNoted(t *testing.T) {
	type event struct {
		at    int // ms
		event histories.Event
	}
	seen := func(at, id int, s histories.ServerState) event {
		return event{at, histories.Event{Type: histories.ServerSeen, Process: -1, Server: &histories.Server{ID: id, State: s}}}
	}
	fault := func(at int, typ histories.Type, targets ...string) event {
		return event{at, histories.Event{Type: typ, Process: -1, Fault: &histories.Fault{ID: 1, Name: "kill-server", Targets: targets}}}
	}
	for name, c := range map[string]struct {
		events []event
		want   string
	}{
		"it comes back":                {[]event{seen(1, 2, histories.Following), seen(10, 2, histories.Down), seen(20, 2, histories.Following)}, "server 2 accepted no connection from 0.010000 s to 0.020000 s: no fault"},
		"it stays down":                {[]event{seen(10, 2, histories.Down), seen(20, 2, histories.Down)}, "server 2 accepted no connection from 0.010000 s until the end"},
		"a fault killed it":            {[]event{fault(5, histories.FaultStart, "server 2"), seen(10, 2, histories.Down), fault(15, histories.FaultStop), seen(16, 2, histories.Down), seen(20, 2, histories.Following)}, ""},
		"a fault killed another one":   {[]event{fault(5, histories.FaultStart, "server 12"), seen(10, 2, histories.Down)}, "server 2 accepted"},
		"a fault had killed it before": {[]event{fault(5, histories.FaultStart, "server 2"), seen(10, 2, histories.Down), fault(15, histories.FaultStop), seen(20, 2, histories.Following), seen(30, 2, histories.Down)}, "from 0.030000 s"},
		"a busy machine":               {[]event{seen(10, 2, histories.Silent), seen(900, 2, histories.Following)}, ""},
		"it is stopped":                {[]event{seen(10, 2, histories.Silent), seen(4000, 2, histories.Following)}, "server 2 did not answer from 0.010000 s to 4.000000 s"},
	} {
		o := newOutages(&histories.Header{SessionTimeout: 2 * time.Second})
		for _, e := range c.events {
			e.event.Time = time.Duration(e.at) * time.Millisecond
			o.Event(0, &e.event)
		}
		if got := o.tell(5 * time.Second); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestWhatTheServersDidNotTellIsUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		census histories.Census
		want   verdict.Outcome
	}{
		"all counted":                     {histories.Census{}, verdict.Holds},
		"watches refused":                 {histories.Census{Uncounted: map[string]string{"watch": "server 2 does not allow wchp"}}, verdict.Unknown},
		"watches refused, a node is left": {histories.Census{Contenders: []string{"/a"}, Uncounted: map[string]string{"watch": "no"}}, verdict.Violated},
	} {
		r := newRun(t)
		r.phase(1, histories.PhaseChaos).phase(2, histories.PhaseEnd).add(3, histories.Event{Type: histories.CensusDone, Process: -1, Census: &c.census})
		v := r.report().Verdict(NoLeak)
		if v.Outcome != c.want {
			t.Errorf("%s: %v", name, v)
		}
		if _, counted := v.Figure("watches left"); counted != (len(c.census.Uncounted) == 0) {
			t.Errorf("%s: %v", name, v.Figures)
		}
	}
}
