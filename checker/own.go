package checker

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// OwnGuarantee is a guarantee of your own: see [WithGuarantee].
type OwnGuarantee struct {
	Name    string // no other guarantee may have it
	Summary string // one line
	Model   string // the model that it is judged against
	// Of reports whether the locks of a recipe have the guarantee. Nil means that those of
	// every recipe do. A history without locks of such a recipe is not judged on it.
	Of func(histories.Recipe) bool
	// Begin returns the judge of a history with this header.
	Begin func(header *histories.Header) EventJudge
}

// EventJudge judges one history on a guarantee of your own.
type EventJudge interface {
	// Event takes in the next event, which has index i. It must not keep e, which is reused
	// after Event returns.
	Event(i int, e *histories.Event)
	// Conclude is called once, after the last event. It reports violations with v.Violate,
	// which may be called only here. Then it sets the outcome with v.Conclude, or with v.Idle
	// if nothing put the guarantee to the test. v is promised and expected unless Conclude
	// changes that. The faults around a violation, and the ends of its parties' sessions, are
	// filled in afterwards.
	Conclude(v *verdict.Verdict)
}

// WithGuarantee has a history judged on a guarantee of your own, too. It is reported, explained
// and shrunk like any other. It is judged by your judge and not by Porcupine: with [Porcupine]
// alone it is not judged.
func WithGuarantee(g OwnGuarantee) Option {
	of := g.Of
	if of == nil {
		of = facts.Every
	}
	return func(c *check) {
		c.own = append(c.own, Guarantee{Name: g.Name, Summary: g.Summary, Model: g.Model, appliesTo: of, own: true, begin: g.begin})
	}
}

// WithOwnGuaranteesOnly has a history judged on guarantees of your own, and on no other.
func WithOwnGuaranteesOnly() Option { return func(c *check) { c.ownOnly = true } }

func (g *OwnGuarantee) begin(t *facts.Trace, v *verdict.Verdict) judge.Judge {
	v.Promised, v.Expected = true, true
	j := &eventJudge{v: v, events: g.Begin(&t.Header)}
	t.Listen(j)
	return j
}

// eventJudge makes a judge of an EventJudge.
type eventJudge struct {
	facts.Deaf
	events EventJudge
	v      *verdict.Verdict
}

// Event passes the event on.
func (j *eventJudge) Event(i int, e *histories.Event) { j.events.Event(i, e) }

// Window does nothing.
func (j *eventJudge) Window(*judge.Engines, *facts.Trace) int { return 0 }

// Conclude asks the EventJudge for its verdict.
func (j *eventJudge) Conclude(*judge.Engines, *facts.Trace) {
	j.events.Conclude(j.v)
	if j.v.Outcome == "" {
		j.v.Outcome, j.v.Reason = verdict.Unknown, "its judge has not said what came of it"
	}
}

// guarantees returns all guarantees that the history may be judged on. It returns an error if
// two have the same name, or one has none.
func (c *check) guarantees() ([]Guarantee, error) {
	all := slices.Concat(guarantees, c.own)
	for i, g := range all {
		if slices.ContainsFunc(all[:i], func(other Guarantee) bool { return other.Name == g.Name }) || g.Name == "" {
			return nil, fmt.Errorf("checker: a guarantee needs a name of its own, and %q is none", g.Name)
		}
	}
	return all, nil
}
