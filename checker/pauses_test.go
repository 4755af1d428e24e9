package checker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// pause stops the worker process of p.
func (r *run) pause(ms, p int) *run {
	return r.fault(ms, histories.FaultStart, histories.WorkerPause, p)
}

func (r *run) wake(ms, p int) *run {
	return r.fault(ms, histories.FaultStop, histories.WorkerPause, p)
}

// overtaken is a holder that was paused until 5000 while another process got its lock, which
// that holds until 9000. The session timeout is 2000: the holder has 100 ms and as much slack
// to notice.
func overtaken(r *run) *run {
	return r.want(0, 1).got(1, 1, 1).pause(10, 1).expired(2200, 1).want(2300, 2).got(2301, 2, 2).wake(5000, 1)
}

func TestPausesAndMutualExclusion(t *testing.T) {
	answers(t, MutualExclusion, []known{
		{"a paused holder believes until it has noticed", func(r *run) {
			overtaken(r).lost(5199, 1).release(9000, 2).released(9001, 2)
		}, verdict.Holds},
		{"a holder believes on after it must have noticed its pause", func(r *run) {
			overtaken(r).lost(5202, 1).release(9000, 2).released(9001, 2)
		}, verdict.Violated},
		{"the pause of another process is no excuse", func(r *run) {
			r.want(0, 1).got(1, 1, 1).pause(10, 3).want(2300, 2).got(2301, 2, 2).wake(5000, 3).lost(5001, 1).release(9000, 2).released(9001, 2)
		}, verdict.Violated},
		{"a pause before the acquire excuses nothing", func(r *run) {
			r.pause(0, 1).wake(10, 1).want(20, 1).got(21, 1, 1).want(30, 2).got(31, 2, 2).release(40, 1).released(41, 1)
		}, verdict.Violated},
		{"a pause before the acquire excuses nothing, nor does a forced expiry long after", func(r *run) {
			r.pause(0, 1).wake(10, 1).want(20, 1).got(21, 1, 1).want(30, 2).got(31, 2, 2).release(40, 1).released(41, 1).release(42, 2).released(43, 2)
			r.want(1000, 1).got(1001, 1, 3).expire(1002, 1).want(1003, 2).got(1004, 2, 4).lost(1005, 1).release(1006, 2).released(1007, 2)
		}, verdict.Violated},
		{"two holders overlapped before one was paused", func(r *run) {
			r.want(0, 1).got(1, 1, 1).want(2, 2).got(3, 2, 2).pause(10, 1).wake(5000, 1).lost(5001, 1).release(9000, 2).released(9001, 2)
		}, verdict.Violated},
		{"no lock that never tells of a loss can prevent it either", func(r *run) {
			r.h.Header.Promises.TellsLoss = false
			overtaken(r).release(5100, 1).released(5101, 1).release(9000, 2).released(9001, 2)
		}, verdict.Holds},
	})
}

func TestPausesAndLoss(t *testing.T) {
	answers(t, LossIsTold, []known{
		{"told within the bound of waking", func(r *run) { overtaken(r).lost(5200, 1) }, verdict.Holds},
		{"told long after waking", func(r *run) { overtaken(r).lost(5201, 1) }, verdict.Violated},
		{"never told after waking, and released late", func(r *run) { overtaken(r).release(7000, 1).released(7001, 1) }, verdict.Violated},
		{"told, and paused before the bound", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expire(100, 1).lost(101, 1).expired(110, 1).pause(115, 1).wake(300, 1)
		}, verdict.Holds},
		{"killed while it was paused", func(r *run) { overtaken(r).crash(5001, 1) }, verdict.Holds},
	})
}

func TestPausesAndCounters(t *testing.T) {
	stale := func(at int) func(*run) {
		return func(r *run) {
			r.want(0, 1).got(1, 1, 1).reads(2, 1, 0).pause(10, 1).expired(2200, 1).want(2300, 2).got(2301, 2, 2).
				reads(2302, 2, 0).writes(2303, 2, 1).release(2304, 2).released(2305, 2).wake(5000, 1).writes(at, 1, 1).lost(at+1, 1)
		}
	}
	answers(t, NoLostUpdatePlain, []known{
		{"a stale write right after waking is excused", stale(5050), verdict.Holds},
		{"a stale write long after waking is not", stale(6000), verdict.Violated},
	})
	answers(t, NoLostUpdateFenced, []known{
		{"a pause does not excuse what the fence let through", func(r *run) {
			stale(5050)(r)
			for i := range r.h.Events {
				if e := &r.h.Events[i]; e.Store != "" {
					e.Store = histories.StoreFenced
				}
			}
		}, verdict.Violated},
	})
}

func TestBothSidesOfAPauseAreTold(t *testing.T) {
	r := newRun(t)
	overtaken(r).lost(5007, 1).release(9000, 2).released(9001, 2)
	notes := r.report().Notes
	if !slices.ContainsFunc(notes, func(n string) bool {
		return strings.Contains(n, "1 overlap of beliefs") && strings.Contains(n, "within 7 ms of waking")
	}) {
		t.Errorf("%q", notes)
	}
}

func TestNobodyIsBlamedForWordsThatCameTooLate(t *testing.T) {
	r := newRun(t)
	r.want(0, 1).got(1, 1, 1).cycle(3, 5, 2, 2).lost(6, 1)
	census := func(late time.Duration) verdict.Outcome {
		h := *r.h
		h.Events = append(slices.Clone(r.h.Events), histories.Event{
			Time: time.Second, Type: histories.CensusDone, Process: -1, Census: &histories.Census{Late: late},
		})
		rep, err := Check(t.Context(), &h)
		if err != nil {
			t.Fatal(err)
		}
		return rep.Outcome()
	}
	slack := histories.Slack(r.h.Header.SessionTimeout)
	if o := census(slack); o != verdict.Violated {
		t.Errorf("words within the slack: %s", o)
	}
	if o := census(slack + 1); o != verdict.Unknown {
		t.Errorf("words beyond the slack: %s", o)
	}
}
