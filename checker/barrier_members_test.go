package checker

import (
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
)

// round records the node that a round of a double barrier began with, and the sessions of the processes
// that joined it, by two transactions each.
func (s *servers) round(ms, zxid int, joined ...int) *servers {
	r := service.Node{Path: "a/ready", Session: session(1), Created: at(ms, zxid)}
	for i, p := range joined {
		r.Writes = append(r.Writes, service.Write{At: at(ms+i+1, zxid+10*(i+1)), By: session(p)})
	}
	s.Standing = append(s.Standing, r)
	return s
}

// Members of a double barrier are compared with their nodes.
func TestTheNodesOfTheMembersOfADoubleBarrier(t *testing.T) {
	const ok, fail = histories.OK, histories.Fail
	enter := func(r *run, from, to, p int, typ histories.Type) *run {
		return r.member(from, histories.Invoke, p, histories.Enter, 1).member(to, typ, p, histories.Enter, 1)
	}
	in := func(r *run) *run {
		r.member(10, histories.Invoke, 1, histories.Enter, 1)
		return enter(r, 11, 20, 2, ok).member(21, ok, 1, histories.Enter, 1)
	}
	// lost is a leave of process 1 that reports a loss. Then process 1 calls again in its session.
	lost := func(r *run) *run {
		in(r).member(30, histories.Invoke, 1, histories.Leave, 1)
		return r.op(40, fail, 1, histories.Leave, histories.Event{Session: session(1), Generation: 1, Error: "membership lost"})
	}
	livesOn := func(r *run) { enter(lost(r), 50, 60, 1, ok) }
	both := func() *servers { return newServers().node(1, 12, 41).node(2, 13, 42) }
	again := func(r *run) {
		in(r).member(30, histories.Invoke, 1, histories.Leave, 1)
		r.op(40, fail, 1, histories.Leave, histories.Event{Session: session(1), Generation: 1, Late: 1})
		enter(r, 50, 60, 1, ok)
	}
	// over ends the round, by a process.
	over := func(s *servers, ms, zxid, p int) *servers {
		gone := at(ms, zxid)
		s.Standing[0].Deleted, s.Standing[0].By = &gone, session(p)
		return s
	}
	leave := func(r *run) {
		in(r).member(30, histories.Invoke, 1, histories.Leave, 1).member(31, histories.Invoke, 2, histories.Leave, 1)
		r.member(40, ok, 1, histories.Leave, 1).member(41, ok, 2, histories.Leave, 1)
	}
	joined := func(r *run) {
		in(r)
		enter(r, 22, 23, 3, ok)
		r.member(30, histories.Invoke, 3, histories.Leave, 1)
	}
	// givesUp is a leave of process 1 that is given up. Process 3 enters and gives up a second later.
	givesUp := func(r *run) {
		in(r).member(30, histories.Invoke, 2, histories.Leave, 1).member(31, histories.Invoke, 1, histories.Leave, 1)
		r.op(40, fail, 1, histories.Leave, histories.Event{Session: session(1), Generation: 1, Late: 1})
		r.op(41, fail, 2, histories.Leave, histories.Event{Session: session(2), Generation: 1, Late: 1})
		enter(r, 1000, 1100, 3, fail)
	}
	for name, test := range map[string]struct {
		run     func(*run)
		servers *servers
		says    string // "" for no violation
	}{
		"the last member ends the round":                  {leave, over(both().deleted(1, 35, 44).deleted(2, 36, 45).round(14, 43), 36, 45, 2), ""},
		"the round ends while an older node is there":     {leave, over(both().deleted(1, 35, 44).deleted(2, 37, 46).round(14, 43), 36, 45, 1), "ended the round of"},
		"the round ends while one that joined is there":   {joined, over(both().node(3, 15, 44).deleted(1, 35, 55).deleted(2, 36, 56).round(14, 43, 3), 36, 56, 2), "ended the round of"},
		"the round ends while another has come":           {joined, over(both().node(3, 15, 44).deleted(1, 35, 55).deleted(2, 36, 56).round(14, 43), 36, 56, 2), ""},
		"an administrator ends the round":                 {leave, over(both().deleted(1, 35, 44).deleted(2, 37, 46).round(14, 43), 36, 45, 9), ""},
		"a leave returns before the round is over":        {leave, both().deleted(1, 35, 44).deleted(2, 36, 45).round(14, 43), "was not over"},
		"the last member gives up and ends the round":     {givesUp, over(both().deleted(2, 35, 44).deleted(1, 45, 45).round(14, 43), 50, 46, 1), ""},
		"the last member gives up, and the round is left": {givesUp, both().deleted(2, 35, 44).deleted(1, 45, 45).round(14, 43), "gave up"},
		"the last member gives up its wait for the round": {givesUp, both().deleted(2, 35, 44).deleted(1, 39, 45).round(14, 43), ""},
		"the last member goes with its session":           {givesUp, both().deleted(2, 35, 44).expired(1, 45, 45).round(14, 43), ""},
		"another comes after the last member":             {givesUp, both().deleted(2, 35, 44).deleted(1, 45, 45).node(3, 100, 46).round(14, 43), ""},
		"inside":                                          {func(r *run) { in(r) }, both().round(14, 43), ""},
		"too few when the round began":                    {func(r *run) { in(r) }, both().deleted(2, 14, 43).round(15, 44), "which began with 1 node"},
		"one joins another":                               {func(r *run) { in(r) }, both().round(14, 43, 3).node(3, 15, 44), ""},
		"one joins another that has joined": {func(r *run) { in(r) },
			both().node(3, 14, 43).deleted(1, 15, 54).deleted(2, 15, 54).round(13, 43, 3, 2), ""},
		"one joins none": {func(r *run) { in(r) }, both().deleted(1, 14, 44).deleted(2, 14, 45).round(13, 43, 3).node(3, 15, 46), "when no member of it was left"},

		"a node after the one before": {func(r *run) { enter(enter(r, 10, 11, 1, fail), 12, 20, 1, fail) }, newServers().node(1, 11, 41).deleted(1, 13, 42).node(1, 14, 43), ""},
		"a node beside the one before": {func(r *run) { enter(enter(r, 10, 11, 1, fail), 12, 20, 1, fail) },
			newServers().node(1, 11, 41).node(1, 14, 43).deleted(1, 15, 44), "counted twice"},
		"a node beside that of another client of the session": {func(r *run) {
			e := histories.Event{Session: session(1), Generation: 1}
			enter(r, 10, 20, 1, fail).op(21, histories.Invoke, 2, histories.Enter, e).op(22, fail, 2, histories.Enter, e)
		}, newServers().node(1, 11, 41).node(1, 14, 43), ""},
		"a node beside that of another client of the application, in a session that it is not seen in": {func(r *run) {
			old, now := histories.Event{Session: session(2), Generation: 1}, histories.Event{Session: session(1), Generation: 1}
			r.op(6, histories.Invoke, 1, histories.Enter, old).op(7, fail, 1, histories.Enter, old).op(8, histories.Invoke, 2, histories.Enter, old)
			enter(enter(r, 10, 13, 1, fail), 14, 20, 1, fail).op(22, histories.Crash, 2, "", now)
		}, newServers().node(1, 11, 41).node(1, 14, 43), ""},
		"nodes of rounds that no member knows": {func(r *run) {
			e := func(p int) histories.Event { return histories.Event{Session: session(p)} }
			r.op(10, histories.Invoke, 1, histories.Enter, e(1)).op(20, ok, 1, histories.Enter, e(1)).op(30, histories.Invoke, 2, histories.Enter, e(2))
			r.op(40, ok, 2, histories.Enter, e(2)).op(50, histories.Invoke, 2, histories.Leave, e(2)).op(51, ok, 2, histories.Leave, e(2))
		}, over(both().node(3, 11, 40).deleted(2, 50, 46).deleted(3, 21, 44).round(15, 43, 2), 50, 46, 2), "ended the round of"},

		"a loss for no reason":                          {livesOn, both().round(14, 43), "no other session had deleted its node: membership lost"},
		"a loss after the node's deletion":              {livesOn, both().round(14, 43).deleted(1, 25, 44).by(7), ""},
		"a loss before the node's deletion":             {livesOn, both().round(14, 43).deleted(1, 45, 44).by(7), "no other session had deleted its node: membership lost"},
		"a loss after the member's own":                 {livesOn, both().round(14, 43).deleted(1, 35, 44), "no other session had deleted its node: membership lost"},
		"a loss by a session of which no more is known": {func(r *run) { lost(r) }, both().round(14, 43), ""},

		"entered again": {again, both().deleted(1, 41, 44).node(1, 51, 46).round(14, 43, 1), "which it had left"},
		"entered the next round": {again, func() *servers {
			s := both().round(14, 43).deleted(1, 41, 44).deleted(2, 45, 45).node(1, 51, 46).node(2, 51, 47).round(52, 48)
			gone := at(45, 45)
			s.Standing[0].Deleted = &gone
			return s
		}(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			test.servers.Clock = 0
			r := newRun(t)
			r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.DoubleBarrier, Size: 2}})
			r.h.Header.Promises.Returns, r.h.Header.Promises.TurnBound, r.h.Header.SessionTimeout = true, time.Second, 2*time.Second
			test.run(r)
			said := ""
			for _, w := range r.report(WithService(&test.servers.Log)).Verdict(Barriers).Witnesses {
				said += w.What + "\n"
			}
			if test.says == "" && said != "" || !strings.Contains(said, test.says) {
				t.Errorf("%q", said)
			}
		})
	}
}
