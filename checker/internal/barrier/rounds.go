package barrier

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
	"github.com/zkverify/zkverify/internal/words"
)

// roundAt returns the node of the round at a time, nil if there is none, or if it is not certain.
func roundAt(t *facts.Trace, lock string, at time.Duration) *service.Node {
	for _, r := range t.Service.RoundsOf(lock) {
		if r.Created.Time < at && (r.Deleted == nil || r.Deleted.Time > at) {
			return r
		}
	}
	return nil
}

// roundOf returns the node of the round that an enter has entered, nil if that is not certain. Clients of a
// session may swap their members.
func roundOf(t *facts.Trace, e *facts.Op, users map[string][]int) *service.Node {
	if !e.OK() || slices.ContainsFunc(e.Sessions(), func(session string) bool { return len(users[session]) > 1 }) {
		return nil
	}
	r := roundAt(t, e.Lock, e.Ret)
	if r == nil || !slices.ContainsFunc(t.Service.NodesOf(e.Lock), func(n *service.Node) bool {
		return n.Session == e.Session && n.Created.Time >= e.Call && (n.Deleted == nil || n.Deleted.Time > e.Ret) && belongs(n, r, math.MaxInt64)
	}) {
		return nil
	}
	return r
}

// rounds judges the beginnings of the rounds that were entered, and their later members, by the writes to
// the rounds' nodes.
func rounds(t *facts.Trace, v *verdict.Verdict, enters []*facts.Op) {
	seen := map[*service.Node]bool{}
	for _, e := range enters {
		r := roundAt(t, e.Lock, e.Ret)
		if r == nil || seen[r] || !e.OK() {
			continue
		}
		seen[r] = true
		nodes := t.Service.NodesOf(e.Lock)
		if n := there(nodes, r.Created.Zxid); n < t.Header.Locks[e.Lock].Size {
			v.Violate(func() verdict.Witness {
				return ofRound(t, e, fmt.Sprintf("entered the round of %#x, which began with %s", r.Created.Zxid, words.Count(n, "node")))
			})
		}
		for _, w := range r.Writes {
			if !slices.ContainsFunc(nodes, func(n *service.Node) bool { return stands(n, w.Zxid) && belongs(n, r, w.Zxid) }) {
				v.Violate(func() verdict.Witness {
					return ofRound(t, e, fmt.Sprintf("entered the round of %#x, which %#x joined when no member of it was left", r.Created.Zxid, w.Zxid))
				})
			}
		}
	}
}

// there counts the nodes that were there before a transaction.
func there(nodes []*service.Node, zxid int64) (n int) {
	for _, o := range nodes {
		if o.Created.Zxid < zxid && stands(o, zxid) {
			n++
		}
	}
	return n
}

// belongs reports whether a node was that of a member of a round before a transaction: it came before the
// round, or its session had written to the round since.
func belongs(n, r *service.Node, zxid int64) bool {
	return n.Created.Zxid < r.Created.Zxid || slices.ContainsFunc(r.Writes, func(w service.Write) bool {
		return w.Zxid > n.Created.Zxid && w.Zxid < zxid && cmp.Or(w.By, r.Session) == n.Session
	})
}

// ends judges the ends of the rounds. The node of a round is there as long as a member of it is. It is
// gone when a leave returns, and soon after a member that has given up, if that was the last.
func (m *members) ends(t *facts.Trace, v *verdict.Verdict, users map[string][]int) {
	locks := map[string]bool{}
	for _, k := range m.keys {
		if locks[k.lock] {
			continue
		}
		locks[k.lock] = true
		nodes := t.Service.NodesOf(k.lock)
		for _, r := range t.Service.RoundsOf(k.lock) {
			endedEarly(t, v, r, nodes, users)
			m.leftBehind(t, v, r, nodes, users)
		}
	}
	for _, l := range m.left {
		e := m.entered(l)
		if e == nil {
			continue
		}
		if r := roundOf(t, e, users); r != nil && (r.Deleted == nil || r.Deleted.Time > l.Ret) {
			v.Violate(func() verdict.Witness {
				return ofRound(t, l, fmt.Sprintf("returned at %s, when the round of %#x was not over: its node %s", verdict.At(l.Ret), r.Created.Zxid, judge.Deletion(t, r)))
			})
		}
	}
}

// endedEarly finds a member whose round was ended by a client while its node was there. It is not known
// which of the clients of a session had joined a round.
func endedEarly(t *facts.Trace, v *verdict.Verdict, r *service.Node, nodes []*service.Node, users map[string][]int) {
	if r.Deleted == nil || len(users[cmp.Or(r.By, r.Session)]) == 0 {
		return
	}
	end := r.Deleted.Zxid
	for _, n := range nodes {
		older := n.Created.Zxid < r.Created.Zxid
		if n.Created.Zxid > end || !stands(n, end) || !older && (len(users[n.Session]) != 1 || !belongs(n, r, end)) {
			continue
		}
		v.Violate(func() verdict.Witness {
			w := judge.NewWitness(t, r.Lock(), r.Created.Time, r.Deleted.Time)
			w.What = fmt.Sprintf("session %s ended the round of %#x of %q at %s, by %#x, although the node %#x of a member was there: it %s",
				cmp.Or(r.By, r.Session), r.Created.Zxid, r.Lock(), verdict.At(r.Deleted.Time), end, n.Created.Zxid, judge.Deletion(t, n))
			return w
		})
		return
	}
}

// leftBehind finds a round whose last member gave up, and which was not ended within
// TurnBound, although no other member came. The time counts from half a session timeout after faults of the
// member's client or of a server.
func (m *members) leftBehind(t *facts.Trace, v *verdict.Verdict, r *service.Node, nodes []*service.Node, users map[string][]int) {
	bound := t.Header.Promises.TurnBound
	for _, n := range nodes {
		if n.Deleted == nil || n.Ended || n.By != "" || n.Deleted.Zxid < r.Created.Zxid || !stands(r, n.Deleted.Zxid) || len(users[n.Session]) != 1 {
			continue
		}
		by, until := users[n.Session][0], t.End
		if over, ends := t.Phases[histories.PhaseEnd]; ends {
			until = min(until, over)
		}
		if s := t.Service.SessionEnd(n.Session); s != nil {
			until = min(until, s.Closed.Time-t.Lifetime())
		}
		if r.Deleted != nil {
			until = min(until, r.Deleted.Time)
		}
		until = min(until, t.Process(by).Retired)
		for _, o := range nodes {
			if o != n && stands(o, n.Deleted.Zxid) {
				until = min(until, o.Created.Time)
			}
		}
		from := t.Reconnected(by, n.Deleted.Time, bound)
		if bound == 0 || !m.gaveUp(n, by) || until-from <= bound || !t.WentOn(n.Deleted.Time, from+bound) {
			continue
		}
		v.Violate(func() verdict.Witness {
			w := judge.NewWitness(t, r.Lock(), n.Deleted.Time, until)
			w.What = fmt.Sprintf("the last member of the round of %#x of %q gave up, its node %#x was deleted at %s, and the round was there until %s: its node %s",
				r.Created.Zxid, r.Lock(), n.Created.Zxid, verdict.At(n.Deleted.Time), verdict.At(until), judge.Deletion(t, r))
			return w
		})
	}
}

// gaveUp reports whether a process gave up before its node was deleted: by an enter that failed, or a
// leave. A leave that is given up after that leaves the end of the round to the next call.
func (m *members) gaveUp(n *service.Node, process int) bool {
	key := memberKey{process, n.Lock()}
	for _, e := range slices.Backward(m.enters[key]) {
		if e.Call > n.Deleted.Time {
			continue
		}
		return e.Result == histories.Fail || slices.ContainsFunc(m.failed, func(l *facts.Op) bool {
			return l.Process == process && l.Lock == key.lock && l.Invoke > e.Invoke && l.Ret < n.Deleted.Time
		})
	}
	return false
}
