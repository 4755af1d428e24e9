package checker

import (
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

func TestMutualExclusion(t *testing.T) {
	answers(t, MutualExclusion, []known{
		{"no lock is ever held", func(r *run) { r.want(0, 1).answer(5, histories.Fail, 1, histories.Acquire) }, verdict.NotExercised},
		{"one after the other", func(r *run) { r.cycle(0, 10, 1, 1).cycle(11, 20, 2, 2) }, verdict.Holds},
		{"two at the same time", func(r *run) {
			r.want(0, 1).got(1, 1, 1).want(2, 2).got(3, 2, 2).release(4, 1).released(5, 1).release(6, 2).released(7, 2)
		}, verdict.Violated},
		{"two at the same time on two locks", func(r *run) {
			r.want(0, 1).got(1, 1, 1).op(2, histories.Invoke, 2, histories.Acquire, histories.Event{Lock: "b"}).
				op(3, histories.OK, 2, histories.Acquire, histories.Event{Lock: "b"}).release(4, 1).released(5, 1)
		}, verdict.Holds},
		{"a release is invoked in the instant in which the next acquire returns", func(r *run) {
			r.want(0, 1).got(1, 1, 1).want(2, 2).got(5, 2, 2).release(5, 1).released(6, 1).release(9, 2).released(10, 2)
		}, verdict.Holds},
		{"a hold of no length stands inside another", func(r *run) {
			r.want(0, 1).got(1, 1, 1).cycle(5, 5, 2, 2).release(9, 1).released(9, 1)
		}, verdict.Violated},
		{"a release that is never answered ends the belief when it is invoked", func(r *run) {
			r.want(0, 1).got(1, 1, 1).release(5, 1).cycle(6, 8, 2, 2)
		}, verdict.Holds},
		{"a release that is never answered does not cover the hold before it", func(r *run) {
			r.want(0, 1).got(1, 1, 1).cycle(3, 4, 2, 2).release(5, 1)
		}, verdict.Violated},
		{"an acquire that is never answered is no hold", func(r *run) { r.want(0, 1).cycle(3, 4, 2, 2) }, verdict.Holds},
		{"an acquire whose answer is unknown is no hold", func(r *run) {
			r.want(0, 1).answer(2, histories.Info, 1, histories.Acquire).cycle(3, 4, 2, 2)
		}, verdict.Holds},
		{"a holder that crashes believes nothing", func(r *run) {
			r.want(0, 1).got(1, 1, 1).crash(2, 1).cycle(3, 4, 2, 2)
		}, verdict.Holds},
		{"a crash comes after the other one was granted", func(r *run) {
			r.want(0, 1).got(1, 1, 1).cycle(3, 4, 2, 2).crash(5, 1)
		}, verdict.Violated},
		{"a holder that was told of its loss believes nothing", func(r *run) {
			r.want(0, 1).got(1, 1, 1).lost(2, 1).cycle(3, 4, 2, 2).release(5, 1).released(6, 1)
		}, verdict.Holds},
		{"a holder is told only after the other one was granted", func(r *run) {
			r.want(0, 1).got(1, 1, 1).cycle(3, 5, 2, 2).lost(6, 1)
		}, verdict.Violated},
		{"the word of loss is about an older lease", func(r *run) {
			r.want(0, 1).got(1, 1, 1).
				add(2, histories.Event{Type: histories.Lost, Process: 1, Lock: "a", Session: "older"}).cycle(3, 4, 2, 2)
		}, verdict.Violated},
		{"the word of loss comes before the grant is recorded", func(r *run) {
			r.want(0, 1).lost(1, 1).got(2, 1, 1).cycle(3, 4, 2, 2)
		}, verdict.Holds},
		{"a forced expiry excuses within the loss bound", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expire(10, 1).want(11, 2).got(12, 2, 2).lost(55, 1).release(70, 2).released(70, 2)
		}, verdict.Holds},
		{"a forced expiry excuses an acquire that was under way", func(r *run) {
			r.want(0, 1).expire(10, 1).want(11, 2).got(12, 2, 2).got(13, 1, 1).lost(55, 1).release(70, 2).released(70, 2)
		}, verdict.Holds},
		{"a forced expiry excuses what was acquired while it was being forced", func(r *run) {
			r.forcing(0, 1).want(1, 1).got(2, 1, 1).forced(10, 1).want(11, 2).got(12, 2, 2).lost(55, 1).release(70, 2).released(70, 2)
		}, verdict.Holds},
		{"a forced expiry excuses nothing that was acquired after it", func(r *run) {
			r.forcing(0, 1).forced(1, 1).want(2, 1).got(3, 1, 1).want(11, 2).got(12, 2, 2).lost(40, 1).release(70, 2).released(70, 2)
		}, verdict.Violated},
		{"a forced expiry does not excuse beyond the loss bound", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expire(10, 1).want(11, 2).got(12, 2, 2).lost(65, 1).release(70, 2).released(70, 2)
		}, verdict.Violated},
		{"a forced expiry of somebody else excuses nothing", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expire(10, 3).want(11, 2).got(12, 2, 2).lost(55, 1).release(70, 2).released(70, 2)
		}, verdict.Violated},
		{"a target that never tells of loss has no excuse", func(r *run) {
			r.h.Header.Promises.TellsLoss = false
			r.want(0, 1).got(1, 1, 1).expire(10, 1).want(11, 2).got(12, 2, 2).release(20, 1).released(20, 1)
		}, verdict.Violated},
		{"one owner in two processes is one owner", func(r *run) {
			e := histories.Event{Owner: "o", Depth: 1}
			r.op(0, histories.Invoke, 1, histories.Acquire, e).op(1, histories.OK, 1, histories.Acquire, e)
			e.Depth = 2
			r.op(2, histories.Invoke, 2, histories.Acquire, e).op(3, histories.OK, 2, histories.Acquire, e)
		}, verdict.Holds},
		{"another process of the owner releases", func(r *run) {
			e := histories.Event{Owner: "o", Depth: 1}
			r.op(0, histories.Invoke, 1, histories.Acquire, e).op(1, histories.OK, 1, histories.Acquire, e).
				op(2, histories.Invoke, 2, histories.Release, e).op(3, histories.OK, 2, histories.Release, e).cycle(4, 5, 3, 9)
		}, verdict.Holds},
	})
}

func TestAWitnessTellsWhoWhatWhenAndUnderWhichFault(t *testing.T) {
	r := newRun(t)
	r.want(0, 1).got(1, 1, 7).fault(5, histories.FaultStart, "isolate-leader", 1).
		want(10, 2).got(12, 2, 8).release(20, 1).released(21, 1).fault(30, histories.FaultStop, "isolate-leader", 1)
	w := r.report().Verdict(MutualExclusion).Witnesses[0]
	if w.From != 12*time.Millisecond || w.To != 20*time.Millisecond || w.Parties[0].Line != 3 || w.Parties[1].Line != 6 {
		t.Errorf("%+v", w)
	}
	s := w.String()
	for _, part := range []string{"process 1", "process 2", `lock "a"`, "0.012000 s", "0.020000 s", "8 ms", "isolate-leader on client was active", "fencing would have protected"} {
		if !strings.Contains(s, part) {
			t.Errorf("%q does not say %q", s, part)
		}
	}
}

// A fault that took the lock from its holder comes first, also if another one hit the holder later.
func TestTheFaultThatTookTheLockComesFirst(t *testing.T) {
	for name, params := range map[string]map[string]string{
		"delete-node":          {"lock": "a", "token": "1"},
		histories.ForcedExpiry: {"session": session(1)},
	} {
		r := newRun(t).want(0, 1).got(1, 1, 1)
		strike := func(ms, id int, typ histories.Type, name string, params map[string]string) {
			r.add(ms, histories.Event{Type: typ, Process: -1, Fault: &histories.Fault{ID: id, Name: name, Targets: []string{"client"}, Processes: []int{1}, Params: params}})
		}
		strike(10, 1, histories.FaultStart, name, params)
		strike(20, 1, histories.FaultStop, name, params)
		strike(30, 2, histories.FaultStart, "latency", nil)
		r.want(100, 2).got(101, 2, 2).release(110, 1).released(111, 1).release(112, 2).released(113, 2)
		witnesses := r.report().Verdict(MutualExclusion).Witnesses
		if len(witnesses) == 0 || len(witnesses[0].Faults) < 2 || witnesses[0].Faults[0].Name != name {
			t.Errorf("%s: %+v", name, witnesses)
		}
	}
}

func TestExcusedOverlapsAreCounted(t *testing.T) {
	r := newRun(t)
	r.want(0, 1).got(1, 1, 1).expire(10, 1).want(11, 2).got(12, 2, 2).lost(55, 1).release(70, 2).released(70, 2)
	if n, _ := r.report().Verdict(MutualExclusion).Figure("overlaps excused by a forced expiry"); n != 1 {
		t.Errorf("%g overlaps were excused, want 1", n)
	}
}

func TestViolationsAreCountedByTheirCause(t *testing.T) {
	overlap := func(before func(*run)) *run {
		r := newRun(t).want(0, 1).got(1, 1, 1)
		before(r)
		return r.want(800, 2).got(900, 2, 2).release(1100, 1).released(1101, 1).release(1102, 2).released(1103, 2)
	}
	v := overlap(func(r *run) { r.expired(700, 1) }).report().Verdict(MutualExclusion)
	if want := (verdict.Cause{What: verdict.NotTold, Count: 1}); len(v.Causes) != 1 || v.Causes[0] != want || !strings.HasSuffix(v.Reason, "; 1 of 1: "+verdict.NotTold) {
		t.Errorf("a session that had ended: %v, %s", v.Causes, v.Reason)
	}
	if v := overlap(func(*run) {}).report().Verdict(MutualExclusion); len(v.Causes) != 0 {
		t.Errorf("nothing is known: %v", v.Causes)
	}
	servers := newServers().node(1, 0, 1).node(2, 801, 2).deleted(1, 1100, 3)
	v = overlap(func(*run) {}).report(WithService(&servers.Log)).Verdict(MutualExclusion)
	if len(v.Causes) != 1 || v.Causes[0].What != verdict.OutOfTurn {
		t.Errorf("the servers saw that it came too early: %v", v.Causes)
	}
}
