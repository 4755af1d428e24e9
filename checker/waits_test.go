package checker

import (
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// stuckRecovery is the recovery in which process 1 has the lock "a" in its way until the end,
// while processes 2 and 3 wait for it, and none asks for "b".
func stuckRecovery(r *run) *run {
	b := histories.Event{Lock: "b"}
	r.op(4000, histories.Invoke, 4, histories.TryAcquire, b).op(4001, histories.Fail, 4, histories.TryAcquire, b).crash(4002, 4)
	return r.phase(5000, histories.PhaseRecovery).want(5010, 2).want(5020, 3).phase(9000, histories.PhaseEnd)
}

func TestProgressNamesWhoWaitsAndWhoIsInTheWay(t *testing.T) {
	for name, test := range map[string]struct {
		before func(r *run)
		want   string
	}{
		"a release that was not answered": {func(r *run) {
			r.want(1000, 1).got(1001, 1, 41).release(1200, 1).answer(1300, histories.Info, 1, histories.Release)
		}, "a's node belongs to process 1, whose release at 1.200000 s was not answered and not repeated"},
		"a release that failed, and was repeated": {func(r *run) {
			r.want(1000, 1).got(1001, 1, 41).release(1200, 1)
			r.op(1300, histories.Fail, 1, histories.Release, histories.Event{Error: "no answer"})
			r.release(1400, 1).answer(1500, histories.Fail, 1, histories.Release)
		}, "whose release at 1.200000 s failed (no answer) and was repeated once without success"},
		"it is held": {func(r *run) { r.want(1000, 1).got(1001, 1, 41) }, "process 1 holds a since 1.001000 s and has not released it"},
		"a loss that was told, and no session ended": {func(r *run) { r.want(1000, 1).got(1001, 1, 41).lost(1500, 1) },
			"a's node belongs to process 1, which was told at 1.500000 s that it had lost the lock, while its session went on"},
		"an acquire that failed": {func(r *run) {
			r.cycle(900, 950, 2, 40).want(1000, 1).answer(1100, histories.Fail, 1, histories.Acquire)
		},
			"process 1, whose acquire of 1.000000 s failed at 1.100000 s, may have left a node in its queue"},
		"a crash":             {func(r *run) { r.want(1000, 1).place(1001, 1, 41).crash(1100, 1) }, "process 1, whose acquire of 1.000000 s ended with a crash, may have left"},
		"all was given back":  {func(r *run) { r.cycle(1000, 1100, 1, 41) }, "by the record no process holds a since process 1, which got it at 1.000000 s"},
		"a session had ended": {func(r *run) { r.want(1000, 1).got(1001, 1, 41).crash(1100, 1).expired(1200, 1) }, "by the record no process holds a since process 1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			test.before(r)
			v := stuckRecovery(r).report().Verdict(Progress)
			if v.Outcome != verdict.Violated {
				t.Fatal(v)
			}
			for _, want := range []string{"clients wait for a; ", test.want, "; no process has asked for the other "} {
				if !strings.Contains(v.Reason, want) {
					t.Errorf("the reason does not say %q: %s", want, v.Reason)
				}
			}
			w := v.Witnesses[0]
			if w.Lock != "a" || len(w.Waits) != 1 || !strings.Contains(w.String(), test.want) {
				t.Fatalf("the first violation: %+v", w)
			}
			if x := w.Waits[0].Waiters[len(w.Waits[0].Waiters)-1]; x.Process != 3 || x.Since != 5020*time.Millisecond {
				t.Errorf("the last waiter: %v", x)
			}
			for i := range v.Witnesses {
				if w := &v.Witnesses[i]; w.Lock == "b" && !strings.HasSuffix(w.What, "; it did not ask for it") {
					t.Error(w.What)
				}
			}
		})
	}
}

// A client that waits for one lock cannot ask for another: what is in the way of the first is in the way
// of both.
func TestAClientThatWaitsForAnotherLockIsNotAlone(t *testing.T) {
	v := stuckRecovery(newRun(t).want(1000, 1).got(1001, 1, 41)).report().Verdict(Progress)
	for _, w := range v.Witnesses {
		if p := w.Parties; w.Lock == "b" && p[0].Process != 1 && p[0].Process != 4 && (len(p) != 2 || p[1].Process != 1) {
			t.Errorf("%s: %v", w.What, p)
		}
	}
}

func TestTheStoryOfAStuckRecoveryBeginsWithTheLeak(t *testing.T) {
	r := newRun(t).want(1000, 1).got(1001, 1, 41).release(1200, 1).answer(1300, histories.Info, 1, histories.Release)
	x, err := Explain(t.Context(), stuckRecovery(r).h, Progress)
	if err != nil {
		t.Fatal(err)
	}
	var story []string
	for _, l := range x.Story {
		story = append(story, l.What)
	}
	all := strings.Join(story, "\n")
	for _, want := range []string{"process 1 calls release of a", "process 2 calls acquire of a", "process 3 calls acquire of a"} {
		if !strings.Contains(all, want) {
			t.Errorf("the story does not tell %q:\n%s", want, all)
		}
	}
}

// The servers' log tells of whose acquire the first node in the queue is; the record alone suspects the
// acquire that failed.
func TestTheFirstNodeInAQueueIsInTheWay(t *testing.T) {
	for name, test := range map[string]struct {
		servers *servers
		want    string
	}{
		"of the acquire that failed": {
			newServers().node(2, 900, 40).deleted(2, 950, 41).node(1, 1001, 42).node(2, 5011, 43),
			"the first node in the queue of a, created at 1.001000 s, is that of process 1, whose acquire of 1.000000 s failed at 1.100000 s",
		},
		"of a waiter": {
			newServers().node(1, 1001, 42).deleted(1, 1101, 43).node(2, 5011, 44).node(3, 5021, 45),
			"the first node in the queue of a, created at 5.011000 s, is that of process 2, which waits",
		},
		"of an earlier acquire of a waiter": {
			newServers().node(3, 901, 42).node(1, 1001, 43).node(2, 5011, 44),
			"the first node in the queue of a, created at 0.901000 s, is of an earlier acquire of process 3",
		},
		"of a session that the record does not have": {
			newServers().node(7, 901, 42).node(1, 1001, 43),
			"the first node in the queue of a, created at 0.901000 s, is of session " + session(7),
		},
		"none": {
			newServers().node(1, 1001, 42).deleted(1, 1101, 43).node(2, 9001, 44),
			"no node stands in the queue of a",
		},
		"of another lock": {
			newServers(), "no process holds a; process 1, whose acquire of 1.000000 s failed at 1.100000 s, may have left a node in its queue",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t).cycle(900, 950, 2, 40).want(1000, 1).answer(1100, histories.Fail, 1, histories.Acquire)
			for i := range stuckRecovery(r).h.Events {
				if e := &r.h.Events[i]; e.Process >= 0 {
					e.Session = session(e.Process)
				}
			}
			v := r.report(WithService(&test.servers.Log)).Verdict(Progress)
			if v.Outcome != verdict.Violated || !strings.Contains(v.Reason, "2 clients wait for a; "+test.want) {
				t.Errorf("the reason does not say %q: %s", test.want, v)
			}
		})
	}
}

// The node of a hold whose loss was told, or that was not given back, may be gone.
func TestAHolderWhoseNodeIsGoneIsNotInTheWay(t *testing.T) {
	r := stuckRecovery(newRun(t).want(1000, 1).got(1001, 1, 41).release(1200, 1).answer(1300, histories.Info, 1, histories.Release))
	for want, servers := range map[string]*servers{
		"a's node belongs to process 1, whose release": newServers().node(1, 1000, 41).node(2, 5011, 42),
		"the first node in the queue of a, created at": newServers().node(1, 1000, 41).deleted(1, 1250, 42).node(2, 5011, 43),
	} {
		if v := r.report(WithService(&servers.Log)).Verdict(Progress); !strings.Contains(v.Reason, want) {
			t.Errorf("the reason does not say %q: %s", want, v)
		}
	}
}
