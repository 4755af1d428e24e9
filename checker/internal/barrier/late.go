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
)

// lateCalls finds calls that went on although nothing held them back any more, by a log of the
// servers whose times are exact: a wait while the barrier was down, or after the one that it had
// seen was removed, an enter while as many members were there as the barrier has, or a member of a
// round, and a leave while no other member was there. Each must return within the bound of a wake-up,
// TurnBound, in which no fault hits the client or a server, nor in the two session timeouts before.
type lateCalls struct {
	calls   []*facts.Op      // that took longer than the bound
	changes []*facts.Op      // sets and removes of a barrier that succeeded
	removes []*facts.Op      // of a barrier
	users   map[string][]int // processes, by session
}

func (l *lateCalls) completed(t *facts.Trace, o *facts.Op) {
	if t.Service == nil || !t.Service.Exact() || t.Header.Promises.TurnBound == 0 {
		return
	}
	if l.users == nil {
		l.users = map[string][]int{}
	}
	for _, session := range o.Sessions() {
		if !slices.Contains(l.users[session], o.Process) {
			l.users[session] = append(l.users[session], o.Process)
		}
	}
	if o.Kind == histories.Remove {
		l.removes = append(l.removes, o)
	}
	if o.OK() && (o.Kind == histories.Remove || o.Kind == histories.Set) {
		l.changes = append(l.changes, o)
	}
	if waits := o.Kind == histories.Wait || o.Kind == histories.Enter || o.Kind == histories.Leave; waits && endOf(t, o)-o.Call > t.Header.Promises.TurnBound {
		l.calls = append(l.calls, o)
	}
}

// share adds to the users of each session another client of the same application, whose clients have used
// one session at some time: the call of a process that crashes does not show the sessions it has gone on in.
func (l *lateCalls) share(clients int) {
	of := func(process int) int { return process % cmp.Or(clients, math.MaxInt) }
	other := map[int]int{} // a process of another client, by client
	for _, all := range l.users {
		for _, p := range all {
			for _, q := range all {
				if of(p) != of(q) {
					other[of(p)] = q
				}
			}
		}
	}
	for session, all := range l.users {
		if q, shared := other[of(all[0])]; shared && len(all) == 1 {
			l.users[session] = append(all, q)
		}
	}
}

// endOf returns when a call returned, or its process crashed, or the history ended.
func endOf(t *facts.Trace, o *facts.Op) time.Duration { return min(o.Ret, o.By.Retired, t.End) }

func (l *lateCalls) judge(t *facts.Trace, v *verdict.Verdict) {
	for _, o := range l.calls {
		if o.Kind != histories.Wait && len(l.users[o.Session]) > 1 {
			continue // the log does not show which member a node belongs to
		}
		bound := t.Header.Promises.TurnBound
		for _, free := range l.freeIn(t, o) {
			if free.Length() <= bound || !t.CalmIn(free.From, free.To, bound+1, o.Process) {
				continue
			}
			v.Violate(func() verdict.Witness { return late(t, o, free, bound) })
			break
		}
	}
}

// twice finds removes that have taken away several barriers, one after the other: a remove whose
// answer was lost is repeated, and must not take away a barrier that was put up since.
func (l *lateCalls) twice(t *facts.Trace, v *verdict.Verdict) {
	for _, o := range l.removes {
		if len(l.users[o.Session]) > 1 {
			continue // the log does not show whose remove it was
		}
		var gone []*service.Node
		for _, n := range t.Service.StandingOf(o.Lock) {
			if d := n.Deleted; d != nil && d.Time >= o.Call && d.Time <= endOf(t, o) && o.Was(cmp.Or(n.By, n.Session)) {
				gone = append(gone, n)
			}
		}
		if len(gone) < 2 {
			continue
		}
		v.Violate(func() verdict.Witness {
			p := judge.OpParty(o)
			w := judge.NewWitness(t, o.Lock, o.Call, endOf(t, o), p)
			w.What = fmt.Sprintf("%v called remove of %q at %s, which took away the barrier of %#x and then that of %#x", p, o.Lock, verdict.At(o.Call), gone[0].Created.Zxid, gone[1].Created.Zxid)
			return w
		})
	}
}

// done finds sets that succeeded although the barrier was down all the time, and removes that did although
// it was up all the time. The log shows no barrier that is not one node.
func (l *lateCalls) done(t *facts.Trace, v *verdict.Verdict) {
	for _, o := range l.changes {
		all := t.Service.StandingOf(o.Lock)
		was, wrong := "up", slices.ContainsFunc(all, func(n *service.Node) bool {
			return n.Created.Time < o.Call && (n.Deleted == nil || n.Deleted.Time > o.Ret)
		})
		if o.Kind == histories.Set {
			was, wrong = "down", len(all) > 0 && !slices.ContainsFunc(all, func(n *service.Node) bool {
				return n.Created.Time <= o.Ret && (n.Deleted == nil || n.Deleted.Time >= o.Call)
			})
		}
		if !wrong {
			continue
		}
		v.Violate(func() verdict.Witness {
			p := judge.OpParty(o)
			w := judge.NewWitness(t, o.Lock, o.Call, o.Ret, p)
			w.What = fmt.Sprintf("%v called %s of %q at %s, which succeeded at %s, although the barrier was %s all the time", p, o.Kind, o.Lock, verdict.At(o.Call), verdict.At(o.Ret), was)
			return w
		})
	}
}

// freeIn returns the stretches of a call in which nothing held it back.
func (l *lateCalls) freeIn(t *facts.Trace, o *facts.Op) (all []facts.Span) {
	nodes := t.Service.NodesOf(o.Lock)
	if o.Kind == histories.Wait {
		nodes = t.Service.StandingOf(o.Lock)
	}
	end := endOf(t, o)
	at := []time.Duration{o.Call, end}
	for _, n := range nodes {
		at = append(at, n.Created.Time)
		if n.Deleted != nil {
			at = append(at, n.Deleted.Time)
		}
	}
	slices.Sort(at)
	at = slices.DeleteFunc(slices.Compact(at), func(x time.Duration) bool { return x < o.Call || x > end })
	for i := range len(at) - 1 {
		s := facts.Span{From: at[i], To: at[i+1]}
		switch last := len(all) - 1; {
		case !l.free(t, o, nodes, s):
		case last >= 0 && all[last].To == s.From:
			all[last].To = s.To
		default:
			all = append(all, s)
		}
	}
	if o.Kind == histories.Wait {
		return append(all, removedIn(t, o, nodes)...)
	}
	return all
}

// removedIn returns the stretch of a wait after the removal of a barrier that it has certainly seen: the
// barrier was up for longer than the bound, and nothing hit the client or a server then, nor in the two
// session timeouts before. It must return then, also if another client has put the barrier up again.
func removedIn(t *facts.Trace, o *facts.Op, nodes []*service.Node) []facts.Span {
	bound, end := t.Header.Promises.TurnBound, endOf(t, o)
	for _, n := range nodes {
		from := max(n.Created.Time, o.Call)
		if n.Deleted != nil && n.Deleted.Time < end && n.Deleted.Time-from > bound && t.CalmFor(o.Process, from, from+bound) {
			return []facts.Span{{From: n.Deleted.Time, To: end}}
		}
	}
	return nil
}

// free reports whether nothing held a call back in a stretch in which no node came or went.
func (l *lateCalls) free(t *facts.Trace, o *facts.Op, nodes []*service.Node, in facts.Span) bool {
	own, others := 0, 0
	for _, n := range nodes {
		switch {
		case n.Created.Time > in.From, n.Deleted != nil && n.Deleted.Time < in.To:
		case n.Session == o.Session:
			own++
		default:
			others++
		}
	}
	switch o.Kind {
	case histories.Wait:
		return own+others == 0
	case histories.Enter:
		return own > 0 && (own+others >= t.Header.Locks[o.Lock].Size || l.underWay(t, nodes, in))
	}
	return others == 0 && own <= 1
}

// underWay reports whether a round is not over in such a stretch, as a member of it is there: who enters then
// joins it, also if fewer members are there than the barrier has.
func (l *lateCalls) underWay(t *facts.Trace, nodes []*service.Node, in facts.Span) bool {
	if len(nodes) == 0 {
		return false
	}
	during := func(n *service.Node) bool {
		return n.Created.Time <= in.From && (n.Deleted == nil || n.Deleted.Time >= in.To)
	}
	return slices.ContainsFunc(t.Service.RoundsOf(nodes[0].Lock()), func(r *service.Node) bool {
		return during(r) && slices.ContainsFunc(nodes, func(n *service.Node) bool {
			return during(n) && (n.Created.Zxid < r.Created.Zxid || len(l.users[n.Session]) == 1 && slices.ContainsFunc(r.Writes, func(w service.Write) bool {
				return w.Time <= in.From && w.Zxid > n.Created.Zxid && cmp.Or(w.By, r.Session) == n.Session
			}))
		})
	})
}

func late(t *facts.Trace, o *facts.Op, free facts.Span, bound time.Duration) verdict.Witness {
	p := judge.OpParty(o)
	w := judge.NewWitness(t, o.Lock, free.From, free.To, p)
	why := map[histories.Op]string{
		histories.Wait: "the barrier was down", histories.Enter: "enough members were there, or one of a round", histories.Leave: "no other member was there",
	}[o.Kind]
	if o.Kind == histories.Wait && slices.ContainsFunc(t.Service.StandingOf(o.Lock), func(n *service.Node) bool {
		return n.Created.Time < free.To && (n.Deleted == nil || n.Deleted.Time > free.From)
	}) {
		why = "the barrier had been removed, and was only put up again"
	}
	w.What = fmt.Sprintf("%v called %s of %q at %s, and had not returned at %s, although from %s on %s: more than %s",
		p, o.Kind, o.Lock, verdict.At(o.Call), verdict.At(free.To), verdict.At(free.From), why, verdict.Ms(bound))
	return w
}
