package queue

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// moves finds acquires that went on waiting in a session that had ended, by a log of the servers whose
// times are exact. An acquire whose session ends goes on in the next one. Its client has heard of the
// end, and is connected again, when it creates a node in the next session. So from then on TurnBound is
// enough for a new place, which takes several round trips: nodes above it may be missing, and many clients
// may share the connection; if no fault hits the client or a server meanwhile, nor a server in the session
// timeout before.
//
// A client that hands a place on by itself is not judged: its acquires may wait without a node.
type moves struct {
	t       *facts.Trace
	created map[string][]time.Duration // by session: when it created nodes, in order
	late    []func() verdict.Witness
}

// bound returns the longest time that a move may take, 0 if moves are not judged.
func (m *moves) bound() time.Duration {
	if m.t.Service == nil || !m.t.Service.Exact() {
		return 0
	}
	return m.t.Header.Promises.TurnBound
}

// completed judges each place of an acquire that was answered.
func (m *moves) completed(o *facts.Op) {
	bound := m.bound()
	if bound == 0 || !o.Acquires() || o.Parts > 0 || o.Recipe() == histories.Handoff {
		return
	}
	for i, p := range o.Places {
		next, until := o.Session, answered(o)
		switch {
		case i+1 < len(o.Places):
			next, until = o.Places[i+1].Session, o.Places[i+1].Time
		case o.OK():
			continue // it was granted this place, or was not told of another one
		}
		if next == "" || next == p.Session || until-p.Time <= bound {
			continue
		}
		if waited, ended := m.waited(o, p, next, until); waited.Length() > bound {
			m.late = append(m.late, m.witness(o, p.Session, next, waited, ended))
			return
		}
	}
}

// waited returns a time, longer than the bound, in which an acquire kept a place in a session that had
// ended although its client used the next session, and when the first one had ended; an empty time if
// there is none before until.
func (m *moves) waited(o *facts.Op, p facts.Place, next string, until time.Duration) (waited facts.Span, ended time.Duration) {
	end := m.t.Service.SessionEnd(p.Session)
	if end == nil {
		return waited, 0
	}
	for _, at := range m.createdBy(next) {
		if from := at; from >= max(end.Closed.Time, p.Time) && until-from > m.bound() && m.undisturbed(o.Process, from, from+m.bound()) {
			return facts.Span{From: from, To: until}, end.Closed.Time
		}
	}
	return waited, 0
}

// undisturbed reports whether no fault hit a process or a server in [from, to], nor a server in the
// session timeout before, and the run went on.
func (m *moves) undisturbed(process int, from, to time.Duration) bool {
	before := from - m.t.Lifetime()
	for f := range m.t.Faults.ReachingOrOnServers(process, before, to) {
		if f.OnServers() || f.Stop >= from {
			return false
		}
	}
	return m.t.WentOn(before, to)
}

func (m *moves) createdBy(session string) []time.Duration {
	if m.created == nil {
		m.created = map[string][]time.Duration{}
		for _, n := range m.t.Service.Nodes() {
			m.created[n.Session] = append(m.created[n.Session], n.Created.Time)
		}
	}
	return m.created[session]
}

// witness returns the witness of a violation by an operation, which the window may forget.
func (m *moves) witness(o *facts.Op, session, next string, waited facts.Span, ended time.Duration) func() verdict.Witness {
	p := judge.OpParty(o)
	w := judge.NewWitness(m.t, o.Lock, o.Call, waited.To, p)
	w.What = fmt.Sprintf("%v waited for %q with a place in session %s, which had ended at %s, and had no place in the next session %s before %s, although its client had used that since %s",
		p, o.Lock, session, verdict.At(ended), next, verdict.At(waited.To), verdict.At(waited.From))
	return func() verdict.Witness { return w }
}

// judge adds the violations to a verdict, and describes them, if there are any.
func (m *moves) judge(v *verdict.Verdict) (wrong []string) {
	for _, w := range m.late {
		v.Violate(w)
	}
	if n := len(m.late); n > 0 {
		wrong = append(wrong, words.Count(n, "acquire")+" waited on in a session that had ended")
	}
	return wrong
}
