package checker

import (
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
)

// A call that is over leaves no node, by a log whose times are exact: not after the bound, and not
// at all if it has waited for its deletion.
func TestNoCallLeavesItsNode(t *testing.T) {
	gaveUp := func() *run {
		return promising(t).want(5, 1).op(20, histories.Fail, 1, histories.Acquire, histories.Event{Session: session(1)})
	}
	released := func() *run { return promising(t).want(5, 1).got(10, 1, 41).release(50, 1).released(60, 1) }
	closedAt := func(ms int) *servers {
		s, ended := newServers().node(1, 6, 41).deleted(1, 61, 42), at(ms, 43)
		s.Sessions = append(s.Sessions, service.Session{ID: session(1), Closed: &ended, Expired: true})
		return s
	}
	for name, test := range map[string]struct {
		run     *run
		servers *servers
		says    string // "" for no violation
	}{
		"it deletes it in the background":     {gaveUp(), newServers().node(1, 6, 41).deleted(1, 200, 42), ""},
		"it leaves it":                        {gaveUp(), newServers().node(1, 6, 41).deleted(1, 800, 42), "had no use for"},
		"it leaves it until its session ends": {gaveUp(), newServers().node(1, 6, 41).expired(1, 4000, 42), "had no use for"},
		"it leaves it, and its session goes on with others": {gaveUp().want(30, 1).got(40, 1, 42),
			newServers().node(1, 6, 41).deleted(1, 800, 43), "had no use for"},
		"it hands its node on": {promising(t).want(5, 1).op(10, histories.OK, 1, histories.Acquire, histories.Event{Token: histories.Token{Zxid: 41, Sub: 1}, Session: session(1)}).
			release(50, 1).released(60, 1).want(61, 2).op(62, histories.OK, 2, histories.Acquire, histories.Event{Token: histories.Token{Zxid: 41, Sub: 2}, Session: session(1)}),
			newServers().node(1, 6, 41), ""},
		"it is over before the node is created": {gaveUp(), newServers().node(1, 25, 41).deleted(1, 200, 42), ""},
		"it is the next lease's": {gaveUp().want(30, 1).got(40, 1, 42).release(90, 1).released(95, 1),
			newServers().node(1, 35, 42).deleted(1, 92, 43), ""},
		"a try that was refused has not waited for it": {promising(t).want(5, 1).got(10, 1, 41).release(50, 1).released(60, 1).op(70, histories.Invoke, 1, histories.TryAcquire, histories.Event{Session: session(1)}).op(72, histories.Enqueued, 1, histories.TryAcquire, histories.Event{Token: tok(43), Session: session(1)}).op(80, histories.Fail, 1, histories.TryAcquire, histories.Event{Refused: true, Session: session(1)}),
			newServers().node(1, 6, 41).deleted(1, 55, 42).node(1, 71, 43).deleted(1, 90, 44), "a try that was refused"},
		"a try that was refused has not waited for it, as its context has ended": {promising(t).want(5, 1).got(10, 1, 41).release(50, 1).released(60, 1).op(70, histories.Invoke, 1, histories.TryAcquire, histories.Event{Session: session(1)}).op(72, histories.Enqueued, 1, histories.TryAcquire, histories.Event{Token: tok(43), Session: session(1)}).op(80, histories.Fail, 1, histories.TryAcquire, histories.Event{Refused: true, Late: 1, Session: session(1)}),
			newServers().node(1, 6, 41).deleted(1, 55, 42).node(1, 71, 43).deleted(1, 90, 44), ""},
		"its client crashes": {gaveUp().crash(100, 1), newServers().node(1, 6, 41).expired(1, 2500, 42), ""},
		"a fault hits it": {gaveUp().op(30, histories.FaultStart, -1, "", histories.Event{Fault: &histories.Fault{ID: 1, Name: "down", Processes: []int{1}}}),
			newServers().node(1, 6, 41).deleted(1, 800, 42), ""},
		"a fault hits it, and it deletes its node in calm":                    {gaveUp().fault(30, histories.FaultStart, "down", 1).fault(40, histories.FaultStop, "down", 1), newServers().node(1, 6, 41).deleted(1, 4200, 42), ""},
		"a fault hits it, and it leaves its node":                             {gaveUp().fault(30, histories.FaultStart, "down", 1).fault(40, histories.FaultStop, "down", 1), newServers().node(1, 6, 41).deleted(1, 4800, 42), "had no use for"},
		"a release has waited for it":                                         {released(), newServers().node(1, 6, 41).deleted(1, 59, 42), ""},
		"a release has not waited for it":                                     {released(), newServers().node(1, 6, 41).deleted(1, 61, 42), "a release of"},
		"a release has not waited for it, as it ends with its session":        {released(), closedAt(61), ""},
		"a release has not waited for it, which goes just before its session": {released(), closedAt(80), ""},
		"a release has not waited for it, which goes long before its session": {released(), closedAt(900), "a release of"},
		"a release has not waited for it, and its session goes on": {released().want(70, 1).got(80, 1, 42).release(90, 1).released(100, 1),
			newServers().node(1, 6, 41).node(1, 75, 42).expired(1, 300, 44), "a release of"},
		"a release is told that its session has ended, which the next leader does not know": {released().want(70, 1).answer(80, histories.Fail, 1, histories.Acquire),
			newServers().node(1, 6, 41).expired(1, 300, 44), ""},
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

// A call that is over leaves no container that it has created and not used, by a log whose times are
// exact, as long as its session lives and no fault hits it.
func TestNoCallLeavesItsContainer(t *testing.T) {
	gaveUp := func() *run {
		return promising(t).want(5, 1).op(20, histories.Fail, 1, histories.Acquire, histories.Event{Session: session(1)})
	}
	together := func(ms int) *run { // another process of the session asks for the lock
		return promising(t).want(5, 1).op(10, histories.Invoke, 2, histories.Acquire, histories.Event{Session: session(1)}).
			op(20, histories.Fail, 1, histories.Acquire, histories.Event{Session: session(1)}).op(ms, histories.Fail, 2, histories.Acquire, histories.Event{Session: session(1)})
	}
	made := func(ms int) *servers {
		s := newServers()
		s.Parents = []service.Node{{Path: "a/locks", Session: session(1), Created: at(ms, 40)}}
		return s
	}
	gone := func(s *servers, ms int) *servers {
		d := at(ms, 50)
		s.Parents[0].Deleted = &d
		return s
	}
	used := func(ms int) *servers {
		u, s := at(ms, 45), made(6)
		s.Parents[0].Used = &u
		return s
	}
	ended := func(ms int) *servers {
		s, closed := made(6), at(ms, 51)
		s.Sessions = []service.Session{{ID: session(1), Closed: &closed}}
		return s
	}
	const left = "had no use for \"a\" from 0.020000 s on, and its unused container a/locks of 0x28 was there for "
	for name, test := range map[string]struct {
		run     *run
		servers *servers
		says    string // "" for no violation
	}{
		"it deletes it in the background":                 {gaveUp(), gone(made(6), 200), ""},
		"it leaves it":                                    {gaveUp(), made(6), "ms more; it was never deleted"},
		"it deletes it late":                              {gaveUp(), gone(made(6), 800), left + "780 ms more; it was deleted at 0.800000 s by 0x32, by its own session"},
		"it is used at once":                              {gaveUp(), used(8), ""},
		"it is used soon":                                 {gaveUp(), used(200), ""},
		"it is used late":                                 {gaveUp(), used(800), left + "780 ms more; it had its first child at 0.800000 s, of 0x2d"},
		"it is created when the call is over, and left":   {gaveUp(), made(30), "from 0.030000 s on"},
		"a call that goes on has created it":              {promising(t).want(5, 1), made(6), ""},
		"another call of the session goes on for a while": {together(800), gone(made(11), 900), ""},
		"another call of the session is over":             {together(800), gone(made(11), 1200), "from 0.800000 s on"},
		"it is written to": {gaveUp(), func() *servers {
			s := made(6)
			s.Parents[0].Writes = []service.Write{{At: at(100, 44), By: session(2)}}
			return s
		}(), ""},
		"its client crashes":          {gaveUp().crash(100, 1), made(6), ""},
		"its session ends":            {gaveUp(), ended(1000), ""},
		"its session ends much later": {gaveUp(), ended(4000), left},
		"a fault hits it":             {gaveUp().fault(30, histories.FaultStart, "down", 1).fault(700, histories.FaultStop, "down", 1), made(6), ""},
		"a fault had hit it": {promising(t).fault(1, histories.FaultStart, "down", 1).fault(3, histories.FaultStop, "down", 1).
			want(5, 1).op(20, histories.Fail, 1, histories.Acquire, histories.Event{Session: session(1)}), made(6), ""},
		"another session's that calls nothing": {gaveUp(), func() *servers { s := made(6); s.Parents[0].Session = session(5); return s }(), ""},
		"the times of the log are inexact":     {gaveUp(), func() *servers { s := made(6); s.Clock = 1; return s }(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if test.servers.Clock == time.Millisecond { // as above
				test.servers.Clock = 0
			}
			r := test.run
			r.h.Header.Promises.TurnBound, r.h.Header.SessionTimeout = time.Second, 2*time.Second
			last := r.h.Events[len(r.h.Events)-1].Time
			for ms := int(last.Milliseconds()) + 100; ms < 5000; ms += 100 { // servers answer others
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

// The holder that was told of a request to release puts the data of its node back.
func TestTheDataOfARequestArePutBack(t *testing.T) {
	marked := service.Write{At: at(100, 50), By: session(2)}
	for name, test := range map[string]struct {
		writes []service.Write
		gone   int // ms
		want   bool
		then   func(*run)
	}{
		"they are":                {[]service.Write{marked, {At: at(102, 51), Same: true}}, 0, false, nil},
		"they are not":            {[]service.Write{marked}, 0, true, nil},
		"other data are":          {[]service.Write{marked, {At: at(102, 51)}}, 0, true, nil},
		"they are late":           {[]service.Write{marked, {At: at(700, 51), Same: true}}, 0, true, nil},
		"another request follows": {[]service.Write{marked, {At: at(300, 51), By: session(3)}}, 0, false, nil},
		"another request follows, of a client of the same session": {[]service.Write{marked, {At: at(300, 51)}}, 0, false, func(r *run) {
			r.revoke(299, 301, 3, 41, histories.Fail)
		}},
		"the lease ends soon":              {[]service.Write{marked}, 300, false, nil},
		"the lease ends when it was asked": {[]service.Write{marked}, 590, false, nil},
		"a fault hits the holder": {[]service.Write{marked}, 0, true, func(r *run) {
			r.fault(102, histories.FaultStart, "down", 1).fault(400, histories.FaultStop, "down", 1)
		}},
		"a fault hits the holder, and then they are": {[]service.Write{marked, {At: at(1500, 51), Same: true}}, 0, false, func(r *run) {
			r.fault(102, histories.FaultStart, "down", 1).fault(400, histories.FaultStop, "down", 1)
		}},
		"the holder crashes": {[]service.Write{marked}, 0, false, func(r *run) { r.crash(102, 1) }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.Revocation}, "b": {Recipe: histories.Barrier}})
			r.h.Header.Promises.TurnBound, r.h.Header.SessionTimeout, r.h.Header.Promises.RevokeBound = time.Second, 2*time.Second, 2*time.Second
			r.want(5, 1).got(10, 1, 41)
			r.op(99, histories.Invoke, 2, histories.Revoke, histories.Event{Token: tok(41)}).op(101, histories.OK, 2, histories.Revoke, histories.Event{Token: tok(41)})
			r.op(101, histories.RevokeRequested, 1, "", histories.Event{Token: tok(41)})
			if test.then != nil {
				test.then(r)
			}
			r.answering(500, 4000, histories.Set, histories.Event{})
			s := newServers().node(1, 6, 41)
			s.Clock, s.Nodes[0].Writes = 0, test.writes
			if test.gone > 0 {
				s.deleted(1, test.gone, 60)
			}
			v := r.report(WithService(&s.Log)).Verdict(Revocation)
			if found := len(v.Witnesses) > 0; found != test.want || found && !strings.Contains(v.Witnesses[0].What, "had not put the data of its node back") {
				t.Errorf("%v %v", v.Outcome, v.Witnesses)
			}
		})
	}
}

// Each notice of a request to release is about a write to the lease's node, which is another one.
func TestARequestIsToldOnce(t *testing.T) {
	write := func(ms int, by string, same bool) service.Write {
		return service.Write{At: at(ms, ms), By: by, Same: same}
	}
	other, back := session(2), write(150, "", true)
	for name, test := range map[string]struct {
		recipe histories.Recipe
		answer histories.Type
		told   []int // ms
		writes []service.Write
		want   string
	}{
		"once":                                    {histories.Revocation, histories.OK, []int{101}, []service.Write{write(100, other, false), back}, ""},
		"twice":                                   {histories.Revocation, histories.OK, []int{101, 102}, []service.Write{write(100, other, false), back}, "told 2 times by 0.102000 s"},
		"by what the holder puts back":            {histories.Revocation, histories.OK, []int{101, 160}, []service.Write{write(100, other, false), back}, "told 2 times by 0.160000 s"},
		"before it was written":                   {histories.Revocation, histories.OK, []int{100}, []service.Write{write(101, other, false), back}, "told once by 0.100000 s"},
		"a request that is written twice":         {histories.Revocation, histories.OK, []int{101, 160}, []service.Write{write(100, other, false), back, write(155, other, false), write(170, "", true)}, ""},
		"a leader, by the same data":              {histories.Election, histories.OK, []int{101}, []service.Write{write(100, other, true)}, ""},
		"a leader, by its own":                    {histories.Election, histories.OK, []int{160}, []service.Write{back}, "told once by 0.160000 s"},
		"a leader, by a client of its session":    {histories.Election, histories.OK, []int{101}, []service.Write{write(100, "", true)}, ""},
		"by a request that had not been answered": {histories.Election, histories.Info, []int{160}, []service.Write{back}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.ofRecipes(map[string]histories.Lock{"a": {Recipe: test.recipe}, "b": {Recipe: histories.Barrier}})
			r.h.Header.Promises.RevokeBound = 2 * time.Second
			r.want(5, 1).got(10, 1, 41)
			r.op(99, histories.Invoke, 2, histories.Revoke, histories.Event{Token: tok(41)})
			r.op(100, test.answer, 2, histories.Revoke, histories.Event{Token: tok(41)})
			for _, ms := range test.told {
				r.told(ms, 1, 41)
			}
			r.answering(500, 1000, histories.Set, histories.Event{})
			s := newServers().node(1, 6, 41)
			s.Clock, s.Nodes[0].Writes = 0, test.writes
			v := r.report(WithService(&s.Log)).Verdict(Revocation)
			if found := len(v.Witnesses) > 0; found != (test.want != "") || found && !strings.Contains(v.Witnesses[0].What, test.want) {
				t.Errorf("%v %v", v.Outcome, v.Witnesses)
			}
		})
	}
}

// A guarded write checks the node of each lease, and a writer that becomes a reader its own.
func TestTheServersShowWhatATransactionDidNotCheck(t *testing.T) {
	parts := []histories.Part{{Lock: "a", Token: tok(41)}, {Lock: "b", Token: tok(41)}}
	second := func(gone int) *servers {
		s := newServers().node(1, 6, 41).node(1, 6, 41)
		s.Nodes[1].Path = "b/_c_1-lock-0000000001"
		d := at(gone, 42)
		s.Nodes[1].Deleted = &d
		return s
	}
	guarded := func(r *run) {
		r.h.Header.Promises.Guards = true
		r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.MultiLock}, "b": {Recipe: histories.MultiLock}})
		r.add(5, histories.Event{Type: histories.Invoke, Process: 1, Op: histories.Acquire, Parts: []histories.Part{{Lock: "a"}, {Lock: "b"}}})
		r.add(10, histories.Event{Type: histories.OK, Process: 1, Op: histories.Acquire, Parts: parts, Session: session(1)})
		w := histories.Event{Store: histories.StoreGuarded, Value: 1}
		r.op(100, histories.Invoke, 1, histories.Write, w).op(105, histories.OK, 1, histories.Write, w)
	}
	downgrade := func(r *run) {
		r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.ReadWrite}})
		r.op(5, histories.Invoke, 1, histories.Acquire, histories.Event{Mode: histories.ModeWrite})
		r.op(10, histories.OK, 1, histories.Acquire, histories.Event{Mode: histories.ModeWrite, Token: tok(41), Session: session(1)})
		r.op(100, histories.Invoke, 1, histories.Acquire, histories.Event{Mode: histories.ModeRead})
		r.op(105, histories.OK, 1, histories.Acquire, histories.Event{Mode: histories.ModeRead, Token: histories.Token{Zxid: 41, Sub: 1}, Session: session(1)})
	}
	queued := func(r *run) {
		r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.ReadWrite}})
		r.op(5, histories.Invoke, 1, histories.Acquire, histories.Event{Mode: histories.ModeWrite})
		r.op(10, histories.OK, 1, histories.Acquire, histories.Event{Mode: histories.ModeWrite, Token: tok(41), Session: session(1)})
		r.op(100, histories.Invoke, 1, histories.Acquire, histories.Event{Mode: histories.ModeRead})
		r.op(102, histories.Lost, 1, "", histories.Event{Mode: histories.ModeWrite, Token: tok(41), Session: session(1)})
		r.op(105, histories.OK, 1, histories.Acquire, histories.Event{Mode: histories.ModeRead, Token: tok(43), Session: session(1)})
	}
	// The writer asks to read while it gives the lock back.
	goesOn := func(r *run) {
		r.h.Header.Promises.Guards = true
		r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.ReadWrite}})
		write, read := histories.Event{Mode: histories.ModeWrite, Depth: 1}, histories.Event{Mode: histories.ModeRead}
		r.op(5, histories.Invoke, 1, histories.Acquire, write)
		r.op(10, histories.OK, 1, histories.Acquire, histories.Event{Mode: histories.ModeWrite, Token: tok(41), Depth: 1, Session: session(1)})
		r.op(100, histories.Invoke, 1, histories.Release, write).op(100, histories.Fail, 1, histories.Release, write)
		r.op(100, histories.Invoke, 1, histories.Acquire, read)
		r.op(105, histories.OK, 1, histories.Acquire, histories.Event{Mode: histories.ModeRead, Token: histories.Token{Zxid: 41, Sub: 1}, Depth: 1, Session: session(1)})
		w := histories.Event{Mode: histories.ModeRead, Store: histories.StoreGuarded, Value: 1}
		r.op(200, histories.Invoke, 1, histories.Write, w).op(205, histories.OK, 1, histories.Write, w)
	}
	for name, test := range map[string]struct {
		run       func(*run)
		servers   *servers
		guarantee string
		violated  bool
	}{
		"a write under a reader whose writer's node has gone":                      {goesOn, newServers().node(1, 6, 41).deleted(1, 103, 42), NoLostUpdateGuarded, false},
		"a reader by a node of its own, whose writer's node is gone":               {queued, newServers().node(1, 6, 41).deleted(1, 99, 42).node(1, 103, 43), ReadersAndWriters, true},
		"a reader by a node of its own, whose writer's node goes in the meantime":  {queued, newServers().node(1, 6, 41).deleted(1, 100, 42).node(1, 103, 43), ReadersAndWriters, false},
		"a write under two locks, of which the second's node is gone":              {guarded, second(99), NoLostUpdateGuarded, true},
		"a write under two locks, of which the second's node goes in the meantime": {guarded, second(100), NoLostUpdateGuarded, false},
		"a reader whose writer's node is gone":                                     {downgrade, newServers().node(1, 6, 41).deleted(1, 99, 42), ReadersAndWriters, true},
		"a reader whose writer's node goes in the meantime":                        {downgrade, newServers().node(1, 6, 41).deleted(1, 100, 42), ReadersAndWriters, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			test.run(r)
			test.servers.Clock = 0
			v := r.report(WithService(&test.servers.Log)).Verdict(test.guarantee)
			if found := len(v.Witnesses) > 0; found != test.violated || found && !strings.Contains(v.Witnesses[0].What, "was gone: it was deleted") {
				t.Errorf("%v %v", v.Outcome, v.Witnesses)
			}
		})
	}
}
