package checker_test

import (
	"context"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// A user's own guarantee is judged, and reported, like any other.
func ExampleWithGuarantee() {
	h := &histories.History{Header: histories.Header{Version: histories.Version}}
	for i, e := range []histories.Event{
		{Type: histories.Invoke, Process: 1, Op: histories.Acquire, Lock: "orders"},
		{Type: histories.OK, Process: 1, Op: histories.Acquire, Lock: "orders"},
		{Type: histories.FaultStart, Process: -1, Fault: &histories.Fault{ID: 1, Name: "latency", Targets: []string{"client 1"}}},
		{Type: histories.FaultStop, Process: -1, Fault: &histories.Fault{ID: 1, Name: "latency", Targets: []string{"client 1"}}},
		{Type: histories.Invoke, Process: 1, Op: histories.Release, Lock: "orders"},
		{Type: histories.OK, Process: 1, Op: histories.Release, Lock: "orders"},
	} {
		e.Time = time.Duration(i) * time.Second
		h.Events = append(h.Events, e)
	}
	report, err := checker.Check(context.Background(), h, checker.WithGuarantee(shortHolds(2*time.Second)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Outcome(), "because of", report.Reason())
	fmt.Println(report.Verdict("short holds").Witnesses[0])
	// Output:
	// violated because of short holds: 1 of 1 holds were too long
	// process 1 held lock "orders" for 3000 ms, from 1.000000 s on. Fault latency on client 1 was active.
}

// shortHolds is an example of a user's own guarantee: no client holds a lock for longer than a bound.
func shortHolds(bound time.Duration) checker.OwnGuarantee {
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
