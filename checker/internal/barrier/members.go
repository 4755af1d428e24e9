package barrier

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
)

// members compares the members of double barriers with their nodes, by a log of the servers whose
// times are exact, if the target promises Returns: a member has one node at a time, since with two it
// counts twice, loses its membership only with its session, or when another session deletes its node,
// and does not enter a round that it has left. A round begins with enough nodes, a node that comes
// later joins it while a member of it is there, and it ends with its last member.
type members struct {
	keys   []memberKey               // in the order of their first enters
	enters map[memberKey][]*facts.Op // in their order
	left   []*facts.Op               // leaves that succeeded
	failed []*facts.Op               // leaves that failed
}

// memberKey identifies a member: a process has one at a double barrier.
type memberKey struct {
	process int
	lock    string
}

func (m *members) completed(t *facts.Trace, o *facts.Op) {
	if t.Service == nil || !t.Service.Exact() || !t.Header.Promises.Returns {
		return
	}
	switch key := (memberKey{o.Process, o.Lock}); {
	case o.Kind == histories.Enter:
		if m.enters == nil {
			m.enters = map[memberKey][]*facts.Op{}
		}
		if m.enters[key] == nil {
			m.keys = append(m.keys, key)
		}
		m.enters[key] = append(m.enters[key], o)
	case o.Kind == histories.Leave && o.OK():
		m.left = append(m.left, o)
	case o.Kind == histories.Leave && o.Result == histories.Fail:
		m.failed = append(m.failed, o)
	}
}

// judge judges all members. users are the processes of each session.
func (m *members) judge(t *facts.Trace, v *verdict.Verdict, users map[string][]int) {
	byInvoke := func(a, b *facts.Op) int { return a.Invoke - b.Invoke }
	slices.SortFunc(m.failed, byInvoke)
	slices.SortFunc(m.keys, func(a, b memberKey) int { return byInvoke(m.enters[a][0], m.enters[b][0]) })
	var all []*facts.Op
	for _, key := range m.keys {
		enters := m.enters[key]
		all = append(all, enters...)
		m.once(t, v, enters, func(session string) bool { return slices.Equal(users[session], []int{key.process}) })
		m.again(t, v, enters, users)
	}
	slices.SortFunc(all, byInvoke)
	rounds(t, v, all)
	for _, l := range m.failed {
		if e := m.entered(l); l.Late() == 0 && !l.Unexplained() && e != nil && !lostIn(t, e, l) {
			v.Violate(func() verdict.Witness { return lostNothing(t, e, l) })
		}
	}
	m.ends(t, v, users)
}

// once finds a member that had two nodes at once. A session that others use too shows nothing: the
// node may be theirs. A request of a call that was given up may create a node later.
func (m *members) once(t *facts.Trace, v *verdict.Verdict, enters []*facts.Op, alone func(session string) bool) {
	end := time.Duration(0)
	for _, e := range enters {
		end = max(end, endOf(t, e))
	}
	var last *service.Node // of its nodes, the one that was there longest
	for _, n := range t.Service.NodesOf(enters[0].Lock) {
		if n.Created.Time < enters[0].Call || n.Created.Time > end || !alone(n.Session) {
			continue
		}
		if last != nil && stands(last, n.Created.Zxid) {
			v.Violate(func() verdict.Witness { return countsTwice(t, enters, last, n) })
		}
		if last == nil || n.Deleted == nil || !stands(last, n.Deleted.Zxid) {
			last = n
		}
	}
}

// stands reports whether a node was there after a later transaction.
func stands(n *service.Node, zxid int64) bool { return n.Deleted == nil || n.Deleted.Zxid > zxid }

// again finds a member that entered a round twice. Clients of a session may swap their members.
func (m *members) again(t *facts.Trace, v *verdict.Verdict, enters []*facts.Op, users map[string][]int) {
	var last *service.Node // the round that the member entered last
	for _, e := range enters {
		r := roundOf(t, e, users)
		if r == nil {
			continue
		}
		if r == last {
			v.Violate(func() verdict.Witness {
				return ofRound(t, e, fmt.Sprintf("entered the round of %#x, which it had left", r.Created.Zxid))
			})
		}
		last = r
	}
}

// entered returns the enter by which the member of a leave was inside, nil if it is not known.
func (m *members) entered(l *facts.Op) *facts.Op {
	for _, e := range slices.Backward(m.enters[memberKey{l.Process, l.Lock}]) {
		if e.Invoke < l.Invoke {
			return e
		}
	}
	return nil
}

// lostIn reports whether the membership of an enter may have been lost by the end of its leave. The
// session certainly went on if a call that began after that was answered in it.
func lostIn(t *facts.Trace, e, l *facts.Op) bool {
	if !slices.Equal(l.Sessions(), []string{e.Session}) || t.Sessions.Alive[e.Session] <= l.Ret {
		return true
	}
	return slices.ContainsFunc(t.Service.NodesOf(e.Lock), func(n *service.Node) bool {
		return n.Session == e.Session && n.Created.Time >= e.Call && n.Created.Time <= e.Ret &&
			n.Deleted != nil && n.Deleted.Time <= l.Ret && (n.Ended || n.By != "")
	})
}

func ofRound(t *facts.Trace, e *facts.Op, what string) verdict.Witness {
	p := judge.OpParty(e)
	w := judge.NewWitness(t, e.Lock, e.Call, e.Ret, p)
	w.What = fmt.Sprintf("%v called enter of %q at %s, and %s", p, e.Lock, verdict.At(e.Call), what)
	return w
}

func countsTwice(t *facts.Trace, enters []*facts.Op, a, b *service.Node) verdict.Witness {
	e := enters[0]
	for _, o := range enters {
		if o.Call <= b.Created.Time {
			e = o
		}
	}
	p := judge.OpParty(e)
	w := judge.NewWitness(t, e.Lock, min(e.Call, a.Created.Time), max(endOf(t, e), b.Created.Time), p)
	w.What = fmt.Sprintf("%v counted twice at barrier %q from %s on: %#x created its node, while that of %#x was there", p, e.Lock, verdict.At(b.Created.Time), b.Created.Zxid, a.Created.Zxid)
	return w
}

func lostNothing(t *facts.Trace, e, l *facts.Op) verdict.Witness {
	p := judge.OpParty(l)
	w := judge.NewWitness(t, l.Lock, e.Call, l.Ret, p)
	w.What = fmt.Sprintf("%v called leave of %q at %s, and it failed at %s, although its session went on and no other session had deleted its node: %s", p, l.Lock, verdict.At(l.Call), verdict.At(l.Ret), l.Why())
	return w
}
