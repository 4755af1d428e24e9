package checker

import (
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// A call that is over leaves no node, by a log whose times are exact: not after the bound, and not
// at all if it has waited for its deletion.
func TestNoCallLeavesItsNode(t *testing.T) {
	gaveUp := func() *run {
		return promising(t).want(5, 1).op(20, histories.Fail, 1, histories.Acquire, histories.Event{Session: session(1)})
	}
	released := func() *run { return promising(t).want(5, 1).got(10, 1, 41).release(50, 1).released(60, 1) }
	for name, test := range map[string]struct {
		run     *run
		servers *servers
		says    string // "" for no violation
	}{
		"it deletes it in the background":     {gaveUp(), newServers().node(1, 6, 41).deleted(1, 200, 42), ""},
		"it leaves it":                        {gaveUp(), newServers().node(1, 6, 41).deleted(1, 800, 42), "had no use for"},
		"it leaves it until its session ends": {gaveUp(), newServers().node(1, 6, 41).expired(1, 4000, 42), "had no use for"},
		"its client crashes":                  {gaveUp().crash(100, 1), newServers().node(1, 6, 41).expired(1, 2500, 42), ""},
		"a fault hits it": {gaveUp().op(30, histories.FaultStart, -1, "", histories.Event{Fault: &histories.Fault{ID: 1, Name: "down", Processes: []int{1}}}),
			newServers().node(1, 6, 41).deleted(1, 800, 42), ""},
		"a release has waited for it":      {released(), newServers().node(1, 6, 41).deleted(1, 59, 42), ""},
		"a release has not waited for it":  {released(), newServers().node(1, 6, 41).deleted(1, 61, 42), "a release of"},
		"the times of the log are inexact": {gaveUp(), func() *servers { s := newServers().node(1, 6, 41).deleted(1, 800, 42); s.Clock = 1; return s }(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if test.servers.Clock == time.Millisecond { // that of newServers; here the servers are simulated ones, whose times are exact
				test.servers.Clock = 0
			}
			r := test.run
			r.h.Header.Promises.TurnBound, r.h.Header.SessionTimeout = time.Second, 2*time.Second
			for ms := 100; ms < 5000; ms += 100 { // servers answer others
				r.want(ms, 9).got(ms, 9, 1000+ms).release(ms, 9).released(ms, 9)
			}
			v := r.report(WithService(&test.servers.Log)).Verdict(NoLeak)
			found := len(v.Witnesses) > 0
			if found != (test.says != "") || found && !strings.Contains(v.Witnesses[0].What, test.says) {
				t.Errorf("%v %v", v.Outcome, v.Witnesses)
			}
		})
	}
}

// An observer is told of another leader within the bound of a wake-up.
func TestAnObserverIsToldInTime(t *testing.T) {
	for name, test := range map[string]struct {
		told int // ms
		want verdict.Outcome
	}{"in time": {1400, verdict.Holds}, "late": {1900, verdict.Violated}} {
		t.Run(name, func(t *testing.T) {
			r := promising(t)
			r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.Election}, "b": {Recipe: histories.Election}})
			r.h.Header.Promises.TurnBound, r.h.Header.SessionTimeout = time.Second, 2*time.Second
			r.sees(10, 1, 41)
			r.op(20, histories.Invoke, 1, histories.Observe, histories.Event{})
			for ms := 100; ms < test.told; ms += 100 {
				r.op(ms, histories.Invoke, 9, histories.Observe, histories.Event{Lock: "b"}).op(ms, histories.OK, 9, histories.Observe, histories.Event{Lock: "b", Token: tok(ms)})
			}
			r.op(test.told, histories.OK, 1, histories.Observe, histories.Event{Token: tok(45)})
			s := newServers().node(2, 5, 41).deleted(2, 500, 44)
			s = s.node(3, 400, 45)
			s.Clock = 0
			if got := r.report(WithService(&s.Log)).Verdict(Observers); got.Outcome != test.want {
				t.Errorf("%v %v, want %s", got.Outcome, got.Witnesses, test.want)
			}
		})
	}
}
