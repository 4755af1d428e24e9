package client

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
)

// nodesLeft finds nodes that the calls of a session have left on the servers, by a log of the
// servers whose times are exact.
//
// A node is of use to the calls that were under way in its session, on its lock, when it was
// created, to the holds, and the stays inside a double barrier, that came of them, and to each hold
// with its token: a place may be handed on within a client. Once these are over the session has no
// use for it. A call that gave up deletes its node in the background, so the node may stay for a
// quarter of TurnBound, the time that wakeUps allows too, in which no fault was in force that hits a
// process of the session, or a server, nor in the two session timeouts before, and in which the run went
// on: the deletion waits for a connection. A node does not count whose session ended, or whose client
// crashed, within the bound.
//
// The same holds for a container that a session created as the parent of such a node, until it has a
// child: the servers do not delete it before. It outlives the session, whose client can take it back
// until a session timeout before the session's end.
//
// A release that succeeded, and a try that was refused, have waited until their node was gone, if
// the target promises FirstNode. The node of a session that ended goes with the session, and a
// client that was told of that end gets no further lock in the session.
type nodesLeft struct {
	facts.Deaf
	t       *facts.Trace
	v       *verdict.Verdict
	use     map[useOf][]use
	inside  map[facts.LockUse]time.Duration // since when a member of a double barrier is inside
	crashed map[string]time.Duration        // by session
	users   map[string][]int                // processes, by session
	of      map[int]string                  // the last session of each process
	asked   map[string]time.Duration        // by session: the last call that got a lock in it
	waited  []answered
}

// useOf is a session's use of a lock.
type useOf struct{ session, lock string }

// use is the time of a use.
type use struct {
	facts.Span
	node int64 // the transaction that created the node of a hold; 0 if it is not known
}

// answered is a call that has waited until its node was gone.
type answered struct {
	*facts.Op
	session string
	node    histories.Token
	what    string
}

// NewNoLeak returns the judge of what clients leave behind.
func NewNoLeak(t *facts.Trace, v *verdict.Verdict) judge.Judge {
	j := &nodesLeft{
		t: t, v: v, use: map[useOf][]use{}, inside: map[facts.LockUse]time.Duration{}, crashed: map[string]time.Duration{},
		users: map[string][]int{}, of: map[int]string{}, asked: map[string]time.Duration{},
	}
	if j.judges() {
		t.Listen(j)
	}
	return j
}

// judges reports whether the log is known, and tells the time of each deletion.
func (j *nodesLeft) judges() bool {
	return j.t.Service != nil && j.t.Service.Exact() && j.t.Header.Promises.TurnBound > 0
}

// Event notes crashes: the node of a session goes with it, later.
func (j *nodesLeft) Event(_ int, e *histories.Event) {
	session := cmp.Or(e.Session, j.of[e.Process])
	switch e.Type {
	case histories.Crash:
		j.crash(session, e.Time)
		for _, o := range j.t.Process(e.Process).Open {
			j.used(o, o.Call, facts.Forever)
		}
		for h := range j.t.Process(e.Process).Holds.All() {
			j.crash(h.Session, e.Time)
		}
	case histories.Closing:
		j.crash(session, e.Time)
	}
}

func (j *nodesLeft) crash(session string, at time.Duration) {
	if _, known := j.crashed[session]; !known {
		j.crashed[session] = at
	}
}

// used records that the sessions of an operation had a use for nodes of its lock.
func (j *nodesLeft) used(o *facts.Op, from, to time.Duration) {
	for _, s := range o.Sessions() {
		k := useOf{s, o.Lock}
		j.use[k] = append(j.use[k], use{Span: facts.Span{From: from, To: to}})
		if !slices.Contains(j.users[s], o.Process) {
			j.users[s] = append(j.users[s], o.Process)
		}
	}
	j.of[o.Process] = o.Session
}

func (j *nodesLeft) Completed(o *facts.Op) {
	if o.Lock == "" || o.Kind == histories.Read || o.Kind == histories.Write {
		return
	}
	j.used(o, o.Call, o.Ret)
	if o.OK() && (o.Kind == histories.Acquire || o.Kind == histories.TryAcquire) {
		j.asked[o.Session] = max(j.asked[o.Session], o.Call)
	}
	k := facts.LockUse{Process: o.Process, Lock: o.Lock}
	switch o.Kind {
	case histories.Enter:
		if o.OK() {
			j.inside[k] = o.Call
		}
	case histories.Leave:
		if since, in := j.inside[k]; in {
			delete(j.inside, k)
			j.used(o, since, o.Ret)
		}
	case histories.TryAcquire:
		if place, placed := o.LastPlace(); o.Refused && placed && place.Token.Sub == 0 {
			j.waited = append(j.waited, answered{o, place.Session, place.Token, "a try that was refused"})
		}
	case histories.Release:
		h := o.Hold
		if h != nil && h.Acquire != nil {
			j.used(o, h.Acquire.Call, o.Ret)
		}
		if o.OK() && h != nil && h.Released == o.Ret && h.Token.Zxid != 0 && h.Token.Sub == 0 && o.Recipe() != histories.Handoff {
			j.waited = append(j.waited, answered{o, h.Session, h.Token, "a release"})
		}
	}
}

func (j *nodesLeft) Ended(h *facts.Hold) {
	end := h.End
	if h.Why == facts.ByCrashing {
		end = facts.Forever
	}
	j.holds(h, end)
}

// holds records that a session has a use for the node of a hold, until its end.
func (j *nodesLeft) holds(h *facts.Hold, end time.Duration) {
	k, from := useOf{h.Session, h.Lock}, h.Start
	if h.Acquire != nil {
		from = h.Acquire.Call
	}
	j.use[k] = append(j.use[k], use{facts.Span{From: from, To: end}, h.Token.Zxid})
}

func (j *nodesLeft) Window(*judge.Engines, *facts.Trace) int { return 0 }

func (j *nodesLeft) Conclude(_ *judge.Engines, t *facts.Trace) {
	if j.judges() {
		j.close()
		j.judge()
	}
	if noLeak(t, j.v); j.v.Violations > 0 { // also if the run has not come to its end
		j.v.Conclude("", "something was left when every client had released, or by a call that was over")
	}
}

// close records the uses that go on at the end of the history.
func (j *nodesLeft) close() {
	for _, p := range j.t.Processes {
		for _, o := range p.Open {
			j.used(o, o.Call, facts.Forever)
		}
	}
	for _, h := range j.t.Holds {
		if h.EndEvent < 0 {
			j.holds(h, facts.Forever)
		}
	}
	for k, since := range j.inside {
		u := useOf{j.of[k.Process], k.Lock}
		j.use[u] = append(j.use[u], use{Span: facts.Span{From: since, To: facts.Forever}})
	}
	for _, spans := range j.use {
		slices.SortFunc(spans, func(a, b use) int { return cmp.Compare(a.From, b.From) })
	}
}

func (j *nodesLeft) judge() {
	nodes, parents := j.t.Service.Nodes(), j.t.Service.Parents()
	for i := range nodes {
		n := &nodes[i]
		j.kept(n, facts.Forever, true, "node "+n.Name(), judge.Deletion(j.t, n))
	}
	j.v.Count("nodes that the servers' log has", len(nodes))
	for i := range parents {
		n := &parents[i]
		end, then := j.unused(n)
		j.kept(n, end, false, "unused container "+n.Path, then)
	}
	for _, a := range j.waited {
		n := j.t.Service.NodeOfToken(a.Lock, a.node)
		switch {
		case !j.t.Header.Promises.FirstNode, n == nil || n.Session != a.session:
		case n.Deleted != nil && (n.Deleted.Time <= a.Ret || j.asked[n.Session] <= a.Ret && j.endsBy(n.Session, n.Deleted.Time+j.t.Header.Promises.TurnBound/4)):
		case a.Refused && a.Late() > 0: // its context has ended, and it waits no longer
		default:
			j.v.Violate(func() verdict.Witness {
				w := judge.NewWitness(j.t, a.Lock, a.Call, a.Ret, judge.OpParty(a.Op))
				w.What = fmt.Sprintf("%s of %q returned at %s, when its node %#x was still there: it %s", a.what, a.Lock, verdict.At(a.Ret), n.Created.Zxid, judge.Deletion(j.t, n))
				return w
			})
		}
	}
}

// unused returns the time until which the client of a container could take it back unused, and
// what became of the container, as the rest of a sentence.
func (j *nodesLeft) unused(n *service.Node) (end time.Duration, then string) {
	end, then = facts.Forever, judge.Deletion(j.t, n)
	if s := j.t.Service.SessionEnd(n.Session); s != nil {
		end = s.Closed.Time - j.t.Lifetime()
	}
	if len(n.Writes) > 0 { // it is another node than the one that the client created
		end = min(end, n.Writes[0].Time)
	}
	if n.Used != nil {
		end, then = min(end, n.Used.Time), fmt.Sprintf("had its first child at %s, of %#x", verdict.At(n.Used.Time), n.Used.Zxid)
	}
	return end, then
}

// kept accuses the session that created a node, described as what, if it left the node before end. A client
// that did not hear, because of a fault, that it has created a container does not take it back later.
func (j *nodesLeft) kept(n *service.Node, end time.Duration, later bool, what, then string) {
	if idle, left := j.left(n, end, later); left {
		j.v.Violate(func() verdict.Witness {
			w := judge.NewWitness(j.t, n.Lock(), idle.From, idle.To)
			w.What = fmt.Sprintf("session %s had no use for %q from %s on, and its %s of %#x was there for %s more; it %s",
				n.Session, n.Lock(), verdict.At(idle.From), what, n.Created.Zxid, verdict.Ms(idle.Length()), then)
			return w
		})
	}
}

// endsBy reports whether a session had ended by a time. A leader that waits for a quorum tells a
// client of that end before it is committed, and before the requests before it are, such as the
// delete of a node; if the next leader does not know it, the session ends later.
func (j *nodesLeft) endsBy(session string, at time.Duration) bool {
	s := j.t.Service.SessionEnd(session)
	return s != nil && s.Closed != nil && s.Closed.Time <= at
}

// left returns the time before end for which a node was there although its session had no use for it,
// if it was left, by the first calm stretch of that time or, unless later, by its beginning.
func (j *nodesLeft) left(n *service.Node, end time.Duration, later bool) (idle facts.Span, left bool) {
	bound := j.t.Header.Promises.TurnBound / 4
	end = min(end, j.t.End)
	if over, ends := j.t.Phases[histories.PhaseEnd]; ends {
		end = min(end, over)
	}
	if at, crashed := j.crashed[n.Session]; crashed {
		end = min(end, at)
	}
	switch {
	case n.Deleted != nil && n.Ended:
		end = min(end, n.Deleted.Time-j.t.Lifetime())
	case n.Deleted != nil:
		end = min(end, n.Deleted.Time)
	}
	from := n.Created.Time
	for _, s := range append(slices.Clip(j.usesOf(n)), use{Span: facts.Span{From: end, To: end}}) {
		idle = facts.Span{From: from, To: min(s.From, end)}
		until := idle.To
		if !later {
			until = min(until, idle.From+bound+1)
		}
		if j.t.CalmIn(idle.From, until, bound+1, j.users[n.Session]...) {
			return idle, true
		}
		if from = max(from, s.To); from >= end {
			break
		}
	}
	return facts.Span{}, false
}

// usesOf returns the uses of a node, in order.
func (j *nodesLeft) usesOf(n *service.Node) []use {
	at := n.Created.Time
	return slices.DeleteFunc(slices.Clone(j.use[useOf{n.Session, n.Lock()}]), func(u use) bool {
		return u.node != n.Created.Zxid && (u.From > at || u.To < at)
	})
}
