// Package shortholds is an example of a user's own guarantee: no client holds a lock for longer
// than a bound.
package shortholds

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// Guarantee returns the guarantee that no client holds a lock for longer than a bound.
func Guarantee(bound time.Duration) checker.OwnGuarantee {
	return checker.OwnGuarantee{
		Name:    "short holds",
		Summary: "no client holds a lock for longer than " + bound.String(),
		Model:   "time from the answer of an acquire to the call of its release",
		Of:      histories.Recipe.Exclusive,
		Begin: func(*histories.Header) checker.EventJudge {
			return &holdTimes{bound: bound, since: map[held]verdict.Party{}}
		},
	}
}

// holdTimes judges the guarantee.
type holdTimes struct {
	bound   time.Duration
	since   map[held]verdict.Party // the holders of locks
	n       int
	tooLong []verdict.Witness
}

type held struct {
	process int
	lock    string
}

func (j *holdTimes) Event(i int, e *histories.Event) {
	k := held{e.Process, e.Lock}
	switch {
	case e.Type == histories.OK && e.Op == histories.Acquire:
		j.n++
		j.since[k] = verdict.Party{Process: e.Process, Session: e.Session, Token: e.Token, From: e.Time, Event: i, Line: histories.Line(i), Invoke: i}
	case e.Type == histories.Invoke && e.Op == histories.Release:
		p, holds := j.since[k]
		delete(j.since, k)
		if p.To = e.Time; holds && p.To-p.From > j.bound {
			j.tooLong = append(j.tooLong, verdict.Witness{
				Lock: e.Lock, From: p.From + j.bound, To: p.To, Parties: []verdict.Party{p},
				What: fmt.Sprintf("%v held lock %q for %s, from %s on", p, e.Lock, verdict.Ms(p.To-p.From), verdict.At(p.From)),
			})
		}
	}
}

func (j *holdTimes) Conclude(v *verdict.Verdict) {
	for _, w := range j.tooLong {
		v.Violate(func() verdict.Witness { return w })
	}
	v.Count("holds", j.n)
	if j.n == 0 {
		v.Idle("no client ever held a lock")
		return
	}
	v.Conclude("every hold was short", fmt.Sprintf("%d of %d holds were too long", v.Violations, j.n))
}
