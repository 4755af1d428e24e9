package checker

import (
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
)

// answering keeps the servers answering clients of another lock of the recipe, every 100 ms.
func (r *run) answering(from, to int, op histories.Op, e histories.Event) *run {
	e.Lock = "b"
	for ms := from; ms < to; ms += 100 {
		r.op(ms, histories.Invoke, 9, op, e).op(ms, histories.OK, 9, op, e)
	}
	return r
}

// A call at a barrier returns within the bound of a wake-up once nothing holds it back.
func TestCallsAtABarrierReturnInTime(t *testing.T) {
	const wait, enter, leave = histories.Wait, histories.Enter, histories.Leave
	up := func(down int) *servers {
		s := newServers()
		gone := at(down, 44)
		s.Standing = append(s.Standing, service.Node{Path: "a", Session: session(2), Created: at(5, 41), Deleted: &gone})
		return s
	}
	again := func(down int) *servers {
		s := up(down)
		s.Standing = append(s.Standing, service.Node{Path: "a", Session: session(2), Created: at(down, 45)})
		return s
	}
	waits := func(from, to int) func(*run) {
		e := histories.Event{Session: session(1)}
		return func(r *run) {
			r.op(from, histories.Invoke, 1, wait, e).answering(from+1, to, histories.Set, histories.Event{}).op(to, histories.OK, 1, wait, e)
		}
	}
	struck := func(to int) func(*run) {
		return func(r *run) {
			r.fault(8, histories.FaultStart, "down", 1).fault(9, histories.FaultStop, "down", 1)
			waits(10, to)(r)
		}
	}
	fault := func(r *run) {
		r.op(8, histories.FaultStart, -1, "", histories.Event{Fault: &histories.Fault{ID: 1, Name: "down", Processes: []int{1}}})
		waits(10, 2900)(r)
	}
	single := histories.Lock{Recipe: histories.Barrier}
	double := histories.Lock{Recipe: histories.DoubleBarrier, Size: 2}
	three := histories.Lock{Recipe: histories.DoubleBarrier, Size: 3}
	// with has process 2 call and return within a millisecond, when process 1 returns.
	with := func(op histories.Op, from, to int) func(*run) {
		return func(r *run) {
			if op == leave {
				for _, typ := range []histories.Type{histories.Invoke, histories.OK} {
					for _, p := range []int{1, 2} {
						r.op(12, typ, p, enter, histories.Event{Session: session(p), Generation: 1})
					}
				}
			}
			e := histories.Event{Session: session(1), Generation: 1}
			r.op(from, histories.Invoke, 1, op, e).answering(from+1, to, histories.Set, histories.Event{})
			other := histories.Event{Session: session(2), Generation: 1}
			r.op(to-1, histories.Invoke, 2, op, other).op(to, histories.OK, 1, op, e).op(to, histories.OK, 2, op, other)
		}
	}
	// joins enters without a number of a round.
	joins := func(r *run) {
		e, other := histories.Event{Session: session(1)}, histories.Event{Session: session(2)}
		r.op(6, histories.Invoke, 2, enter, other).op(7, histories.Fail, 2, enter, other)
		r.op(10, histories.Invoke, 1, enter, e).answering(11, 2600, histories.Set, histories.Event{}).op(2600, histories.OK, 1, enter, e)
	}
	for name, test := range map[string]struct {
		lock    histories.Lock
		run     func(*run)
		servers *servers
		says    string // "" for no violation
	}{
		"a remove of one barrier": {single, func(r *run) {
			r.op(1000, histories.Invoke, 1, histories.Remove, histories.Event{Session: session(1)}).op(2000, histories.OK, 1, histories.Remove, histories.Event{Session: session(1)})
		}, func() *servers { s := up(1500); s.Standing[0].By = session(1); return s }(), ""},
		"a remove of two barriers": {single, func(r *run) {
			r.op(1000, histories.Invoke, 1, histories.Remove, histories.Event{Session: session(1)}).op(2000, histories.OK, 1, histories.Remove, histories.Event{Session: session(1)})
		}, func() *servers {
			s := up(1500)
			again := at(1800, 46)
			s.Standing[0].By = session(1)
			s.Standing = append(s.Standing, service.Node{Path: "a", Session: session(2), Created: at(1600, 45), Deleted: &again, By: session(1)})
			return s
		}(), "and then that of"},
		"a remove of a barrier, and another client's": {single, func(r *run) {
			r.op(1000, histories.Invoke, 1, histories.Remove, histories.Event{Session: session(1)}).op(2000, histories.OK, 1, histories.Remove, histories.Event{Session: session(1)})
		}, func() *servers {
			s := up(1500)
			again := at(1800, 46)
			s.Standing[0].By = session(1)
			s.Standing = append(s.Standing, service.Node{Path: "a", Session: session(2), Created: at(1600, 45), Deleted: &again})
			return s
		}(), ""},
		"a remove of a barrier that stays": {single, func(r *run) {
			r.op(1000, histories.Invoke, 1, histories.Remove, histories.Event{Session: session(1)}).op(1400, histories.OK, 1, histories.Remove, histories.Event{Session: session(1)})
		}, up(1500), "the barrier was up all the time"},
		"a set of a barrier that stays down": {single, func(r *run) {
			r.op(1600, histories.Invoke, 1, histories.Set, histories.Event{Session: session(1)}).op(2000, histories.OK, 1, histories.Set, histories.Event{Session: session(1)})
		}, up(1500), "the barrier was down all the time"},
		"a set of a barrier that was up": {single, func(r *run) {
			r.op(1400, histories.Invoke, 1, histories.Set, histories.Event{Session: session(1)}).op(2000, histories.OK, 1, histories.Set, histories.Event{Session: session(1)})
		}, up(1500), ""},
		"a wait that returns in time":                       {single, waits(10, 2400), up(1500), ""},
		"a wait that goes on":                               {single, waits(10, 2600), up(1500), "the barrier was down"},
		"a wait for a barrier that is put up again":         {single, waits(10, 2600), again(1500), "was only put up again"},
		"a wait for one that is put up again ends in time":  {single, waits(10, 2400), again(1500), ""},
		"a wait for a barrier that it may not have seen":    {single, waits(10, 2600), again(900), ""},
		"a wait that a fault hit before it saw the barrier": {single, fault, again(1500), ""},
		"a wait whose process crashes": {single, func(r *run) {
			r.op(10, histories.Invoke, 1, wait, histories.Event{Session: session(1)}).crash(1600, 1).answering(1700, 4000, histories.Set, histories.Event{})
		}, up(1500), ""},
		"a wait that a fault hit":                   {single, fault, up(1500), ""},
		"a wait that a fault hit returns in calm":   {single, struck(4900), up(1500), ""},
		"a wait that a fault hit goes on in calm":   {single, struck(5100), up(1500), "the barrier was down"},
		"a wait that goes on, by an inexact log":    {single, waits(10, 2600), func() *servers { s := up(1500); s.Clock = 2; return s }(), ""},
		"an enter with enough members in time":      {double, with(enter, 10, 2400), newServers().node(1, 11, 41).node(2, 1500, 42), ""},
		"an enter with enough members that goes on": {double, with(enter, 10, 2600), newServers().node(1, 11, 41).node(2, 1500, 42), "enough members were there"},
		"an enter with too few members":             {double, with(enter, 10, 2600), newServers().node(1, 11, 41), ""},
		"an enter while a round is under way":       {double, with(enter, 10, 2600), newServers().node(1, 11, 41).round(5, 40), ""},
		"an enter beside a member of a round":       {three, joins, newServers().node(2, 4, 39).round(5, 40).node(1, 11, 41), "or one of a round"},
		"an enter beside one that has joined":       {three, joins, newServers().node(2, 6, 41).round(5, 40, 2).node(1, 11, 52), "or one of a round"},
		"an enter beside one that came too":         {three, joins, newServers().node(2, 6, 41).round(5, 40).node(1, 11, 42), ""},
		"a leave that returns in time":              {double, with(leave, 20, 2400), newServers().node(1, 11, 41).node(2, 11, 42).deleted(1, 21, 43).deleted(2, 1500, 44), ""},
		"a leave that goes on":                      {double, with(leave, 20, 2600), newServers().node(1, 11, 41).node(2, 11, 42).deleted(1, 21, 43).deleted(2, 1500, 44), "no other member was there"},
		"a leave whose own node alone is left":      {double, with(leave, 20, 2600), newServers().node(1, 11, 41).node(2, 11, 42).deleted(2, 1500, 44), "no other member was there"},
		"a leave while another member is there":     {double, with(leave, 20, 2600), newServers().node(1, 11, 41).node(2, 11, 42).deleted(1, 21, 43), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if test.servers.Clock != 2 {
				test.servers.Clock = 0
			}
			r := newRun(t)
			r.ofRecipes(map[string]histories.Lock{"a": test.lock, "b": single})
			r.h.Header.Promises.TurnBound, r.h.Header.SessionTimeout = time.Second, 2*time.Second
			test.run(r)
			v := r.report(WithService(&test.servers.Log)).Verdict(Barriers)
			found := len(v.Witnesses) > 0
			if found != (test.says != "") || found && !strings.Contains(v.Witnesses[0].What, test.says) {
				t.Errorf("%v %v", v.Outcome, v.Witnesses)
			}
		})
	}
}
