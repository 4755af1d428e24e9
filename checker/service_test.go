package checker

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
)

// servers is the servers' log of a run.
type servers struct{ service.Log }

func newServers() *servers {
	return &servers{service.Log{Header: service.Header{Version: 1, Servers: 3, Clock: time.Millisecond}}}
}

func at(ms, zxid int) service.At {
	return service.At{Zxid: int64(zxid), Time: time.Duration(ms) * time.Millisecond}
}

// node records that the node of process p was created by a transaction, the token of its lease.
func (s *servers) node(p, ms, zxid int) *servers {
	s.Nodes = append(s.Nodes, service.Node{Path: fmt.Sprintf("a/_c_%d-lock-%010d", p, len(s.Nodes)), Session: session(p), Created: at(ms, zxid)})
	return s
}

// deleted records the deletion of the last node of process p.
func (s *servers) deleted(p, ms, zxid int) *servers {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Session == session(p) && n.Deleted == nil {
			n.Deleted = new(service.At)
			*n.Deleted = at(ms, zxid)
		}
	}
	return s
}

// by records that the session of process p deleted the first node.
func (s *servers) by(p int) *servers {
	s.Nodes[0].By = session(p)
	return s
}

// expired ends the session of process p, with its nodes.
func (s *servers) expired(p, ms, zxid int) *servers {
	s.deleted(p, ms, zxid)
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Session == session(p) {
			n.Ended = true
		}
	}
	closed := at(ms, zxid)
	s.Sessions = append(s.Sessions, service.Session{ID: session(p), Closed: &closed, Expired: true})
	return s
}

// promising returns a run of a target that promises the first node.
func promising(t *testing.T) *run {
	r := newRun(t)
	r.h.Header.Promises.FirstNode = true
	return r
}

func TestTheServersSayWhoWasWrongWhenTwoHeldALock(t *testing.T) {
	// Process 1 holds the lock from 10 to 90, process 2 from 50.
	overlap := func() *run {
		return promising(t).want(5, 1).got(10, 1, 41).want(20, 2).got(50, 2, 42).release(90, 1).released(91, 1).release(95, 2).released(96, 2)
	}
	for name, test := range map[string]struct {
		servers *servers
		order   verdict.Order
		first   verdict.Outcome // of the guarantee
		says    string
	}{
		"the first node was there": {newServers().node(1, 6, 41).node(2, 21, 42).deleted(1, 91, 43).deleted(2, 96, 44),
			verdict.GrantedEarly, verdict.Violated, "process 2 was granted the lock while the node of process 1 was before its own (0x29, 0x2a), which was deleted at 0.091000 s by 0x2b, by its own session"},
		"the first node was never deleted": {newServers().node(1, 6, 41).node(2, 21, 42), verdict.GrantedEarly, verdict.Violated, "which was never deleted"},
		"the session had ended": {newServers().node(1, 6, 41).node(2, 21, 42).expired(1, 40, 43).deleted(2, 96, 44),
			verdict.InTurn, verdict.Holds, "the node of process 1 was deleted at 0.040000 s by 0x2b, with its session, which the servers had expired, before process 2 was granted the lock at 0.050000 s"},
		// The times of the logs are those of the leader's wall clock, in milliseconds: a
		// release just after the grant may have its time, or that of the millisecond
		// before.
		"before the grant":         {newServers().node(1, 6, 41).node(2, 21, 42).deleted(1, 49, 43), verdict.InTurn, verdict.Holds, ""},
		"just before it":           {newServers().node(1, 6, 41).node(2, 21, 42).deleted(1, 50, 43), "", verdict.Holds, ""},
		"at the time of the grant": {newServers().node(1, 6, 41).node(2, 21, 42).deleted(1, 51, 43), "", verdict.Holds, ""},
		"just after it":            {newServers().node(1, 6, 41).node(2, 21, 42).deleted(1, 52, 43), verdict.GrantedEarly, verdict.Violated, ""},
		"the nodes are not known":  {newServers(), "", verdict.NotExercised, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := overlap().report(WithService(&test.servers.Log))
			v := r.Verdict(MutualExclusion)
			if len(v.Witnesses) != 1 || v.Witnesses[0].Order != test.order || !strings.Contains(v.Witnesses[0].What, test.says) {
				t.Errorf("%q, want %q\n%v", v.Witnesses[0].Order, test.order, v.Witnesses)
			}
			if got := r.Verdict(FirstNode); got.Outcome != test.first {
				t.Errorf("%v, want %s", got, test.first)
			}
		})
	}
}

// A process that crashed believes nothing any more, and its node stays until its session ends.
func TestADoubleGrantThatNobodyBelieved(t *testing.T) {
	run := promising(t).want(5, 1).got(10, 1, 41).want(20, 2).crash(30, 1).got(50, 2, 42).release(60, 2).released(61, 2)
	for name, test := range map[string]struct {
		servers *servers
		want    verdict.Outcome
	}{
		"too early":                 {newServers().node(1, 6, 41).node(2, 21, 42).deleted(2, 61, 43).expired(1, 2000, 44), verdict.Violated},
		"when the session had gone": {newServers().node(1, 6, 41).node(2, 21, 42).expired(1, 40, 43).deleted(2, 61, 44), verdict.Holds},
	} {
		t.Run(name, func(t *testing.T) {
			r := run.report(WithService(&test.servers.Log))
			v := r.Verdict(FirstNode)
			if v.Outcome != test.want || r.Verdict(MutualExclusion).Outcome != verdict.Holds || r.Verdict(Fairness).Outcome == verdict.Violated {
				t.Errorf("%v, want %s; %v; %v", v, test.want, r.Verdict(MutualExclusion), r.Verdict(Fairness))
			}
			if test.want == verdict.Violated && !strings.Contains(v.Witnesses[0].What, "node 0x29 of session s1 was before its own, 0x2a, on the servers; that node was deleted at 2.000000 s by 0x2c, with its session, which the servers had expired") {
				t.Error(v.Witnesses)
			}
		})
	}
}

func TestAGrantIsNotTooEarly(t *testing.T) {
	fresh := func() *run { return promising(t).want(5, 1).got(10, 1, 41).release(11, 1).released(12, 1) }
	for name, test := range map[string]struct {
		run     *run
		servers *servers
		want    verdict.Outcome
	}{
		"behind a node of its own session": {fresh(), newServers().node(1, 0, 40).node(1, 6, 41), verdict.Holds},
		"before a node that comes later":   {fresh(), newServers().node(1, 6, 41).node(2, 7, 42), verdict.Holds},
		"behind what is no contender": {fresh(), func() *servers {
			s := newServers().node(2, 0, 40).node(1, 6, 41)
			s.Nodes[0].Path = "a/holder"
			return s
		}(), verdict.Holds},
		"behind a contender of another directory": {fresh(), func() *servers {
			s := newServers().node(2, 0, 40).node(1, 6, 41)
			s.Nodes[0].Path = "a/leases/x-0000000000"
			return s
		}(), verdict.Holds},
		"behind a contender of another lock": {fresh(), func() *servers {
			s := newServers().node(2, 0, 40).node(1, 6, 41)
			s.Nodes[0].Path = "b/x-0000000000"
			return s
		}(), verdict.Holds},
		"as far as is known, if the wall clock was set": {fresh(), newServers().node(2, 0, 40).node(1, 5000, 41).deleted(2, 5001, 42), verdict.NotExercised},
		"by a target that does not promise it": {func() *run {
			r := fresh()
			r.h.Header.Promises.FirstNode = false
			return r
		}(), newServers().node(2, 0, 40).node(1, 6, 41), verdict.NotPromised},
		"though it is": {fresh(), newServers().node(2, 0, 40).node(1, 6, 41), verdict.Violated},
	} {
		t.Run(name, func(t *testing.T) {
			if v := test.run.report(WithService(&test.servers.Log)).Verdict(FirstNode); v.Outcome != test.want {
				t.Errorf("%v, want %s", v, test.want)
			}
		})
	}
}

// zk.Lock has no tokens: its nodes are found by their sessions.
func TestALeaseWithoutATokenIsFoundByItsSession(t *testing.T) {
	fresh := func() *run {
		return newRun(t).want(5, 1).got(10, 1, 0).want(20, 2).got(50, 2, 0).release(90, 1).released(91, 1).release(95, 2).released(96, 2)
	}
	for name, test := range map[string]struct {
		servers *servers
		want    verdict.Order
	}{
		"granted early":           {newServers().node(1, 6, 41).node(2, 21, 42).deleted(1, 91, 43), verdict.GrantedEarly},
		"outlived":                {newServers().node(1, 6, 41).node(2, 21, 42).expired(1, 40, 43), verdict.InTurn},
		"the session created two": {newServers().node(1, 6, 41).node(2, 21, 42).node(2, 22, 43).deleted(1, 91, 44), ""},
		"the node was created before the acquire": {newServers().node(1, 6, 41).node(2, 2, 42).deleted(1, 91, 44), ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := fresh()
			r.h.Header.Promises = histories.Promises{}
			v := r.report(WithService(&test.servers.Log)).Verdict(MutualExclusion)
			if len(v.Witnesses) != 1 || v.Witnesses[0].Order != test.want {
				t.Errorf("%v, want %q", v.Witnesses, test.want)
			}
		})
	}
}

func TestAHistoryAloneIsJudgedWithoutTheServers(t *testing.T) {
	r := promising(t).want(5, 1).got(10, 1, 41).release(11, 1).released(12, 1).report()
	if v := r.Verdict(FirstNode); v != nil {
		t.Error(v)
	}
}

// A history with a grant that was too early shrinks to the acquire and the release of that
// grant.
func TestAGrantThatWasTooEarlyShrinks(t *testing.T) {
	r := promising(t).cycle(1, 2, 3, 39).want(5, 1).got(10, 1, 41).want(20, 2).crash(30, 1).got(50, 2, 42).release(60, 2).released(61, 2).cycle(70, 71, 3, 45)
	known := WithService(&newServers().node(3, 1, 39).deleted(3, 3, 40).node(1, 6, 41).node(2, 21, 42).deleted(2, 61, 43).expired(1, 2000, 44).node(3, 70, 45).Log)
	small, err := Shrink(t.Context(), r.h, FirstNode, nil, known)
	if err != nil {
		t.Fatal(err)
	}
	if n := operations(small); n != 2 {
		t.Errorf("%d operations are left: %v", n, small.Events)
	}
	rep, err := Check(t.Context(), small, known)
	if err != nil || rep.Verdict(FirstNode).Outcome != verdict.Violated {
		t.Errorf("%v, %v", rep, err)
	}
	if _, err := Check(t.Context(), small); !errors.Is(err, ErrNotViolated) || !strings.Contains(err.Error(), "what the servers did is not known") {
		t.Errorf("without what the servers did: %v", err)
	}
}

// An inner release is to blame if its session had the node deleted, even if the session ended
// soon after.
func TestTheServersSayWhetherAnInnerReleaseFreedTheLock(t *testing.T) {
	run := newRun(t).want(0, 1).got(1, 1, 41).want(2, 1).deeper(3, 1, 41, 2).want(4, 2).inner(6, 7, 1, 2).got(20, 2, 42).expired(300, 1).release(900, 1).released(901, 1)
	for name, test := range map[string]struct {
		servers *servers
		want    verdict.Outcome
	}{
		"it did":                               {newServers().node(1, 1, 41).node(2, 5, 42).deleted(1, 7, 43), verdict.Violated},
		"the session had ended":                {newServers().node(1, 1, 41).node(2, 5, 42).expired(1, 7, 43), verdict.Holds},
		"its session did, perhaps later":       {newServers().node(1, 1, 41).node(2, 5, 42).deleted(1, 20, 43), verdict.Holds},
		"the node is there":                    {newServers().node(1, 1, 41).node(2, 5, 42), verdict.Holds},
		"the node is not known":                {newServers(), verdict.Holds},
		"another session had the node deleted": {newServers().node(1, 1, 41).node(2, 5, 42).deleted(1, 7, 43).by(9), verdict.Holds},
	} {
		if v := run.report(WithService(&test.servers.Log)).Verdict(Reentrancy); v.Outcome != test.want {
			t.Errorf("%s: %v, want %s", name, v, test.want)
		}
	}
}

// The observer may not see the end of a session that the servers have on record.
func TestALossCountsWhoseSessionOnlyTheServersSawEnd(t *testing.T) {
	servers := newServers().node(1, 6, 41).expired(1, 100, 43)
	for name, test := range map[string]struct {
		r       *run
		without verdict.Outcome
		want    verdict.Outcome
	}{
		"released without being told": {newRun(t).want(5, 1).got(10, 1, 41).release(3000, 1).released(3001, 1), verdict.NotExercised, verdict.Violated},
		"held to the end":             {newRun(t).want(5, 1).got(10, 1, 41).phase(3000, histories.PhaseEnd), verdict.NotExercised, verdict.Violated},
		"told":                        {newRun(t).want(5, 1).got(10, 1, 41).lost(90, 1).phase(3000, histories.PhaseEnd), verdict.NotExercised, verdict.Holds},
		"released before":             {newRun(t).want(5, 1).got(10, 1, 41).release(90, 1).released(91, 1), verdict.NotExercised, verdict.NotExercised},
	} {
		if v := test.r.report().Verdict(LossIsTold); v.Outcome != test.without {
			t.Errorf("%s, without the servers: %v", name, v)
		}
		if v := test.r.report(WithService(&servers.Log)).Verdict(LossIsTold); v.Outcome != test.want {
			t.Errorf("%s: %v, want %s", name, v, test.want)
		}
	}
}
