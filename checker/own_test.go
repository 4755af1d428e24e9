package checker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// cycles returns a history in which processes hold a lock for the given numbers of seconds, one
// after the other.
func cycles(seconds ...int) *histories.History {
	h := &histories.History{Header: histories.Header{Version: histories.Version, Recipe: string(histories.Mutex)}}
	now := time.Duration(0)
	for i, n := range seconds {
		add := func(typ histories.Type, op histories.Op, wait time.Duration) {
			now += wait
			h.Events = append(h.Events, histories.Event{Time: now, Type: typ, Process: i, Op: op, Lock: "a"})
		}
		add(histories.Invoke, histories.Acquire, time.Millisecond)
		add(histories.OK, histories.Acquire, time.Millisecond)
		add(histories.Invoke, histories.Release, time.Duration(n)*time.Second)
		add(histories.OK, histories.Release, time.Millisecond)
	}
	return h
}

func TestAnOwnGuaranteeIsJudgedExplainedAndShrunk(t *testing.T) {
	ctx, own := context.Background(), checker.WithGuarantee(shortHolds(2*time.Second))
	h := cycles(1, 5, 1, 3, 1)
	r, err := checker.Check(ctx, h, own)
	if err != nil {
		t.Fatal(err)
	}
	v := r.Verdict("short holds")
	if v == nil || v.Outcome != verdict.Violated || v.Violations != 2 || !v.Promised || r.Outcome() != verdict.Violated {
		t.Fatalf("%v; the run: %s", v, r.Outcome())
	}
	all := r.Guarantees()
	if g := all[len(all)-1]; g.Name != "short holds" || g.Summary == "" || !g.Of(histories.Mutex) || g.Of(histories.Semaphore) {
		t.Errorf("it is described as %+v", g)
	}
	x, err := checker.Explain(ctx, h, "short holds", own)
	if err != nil || len(x.Story) == 0 || x.Witness.Parties[0].Process != 1 {
		t.Errorf("%v: %+v", err, x)
	}
	if err := x.Picture(ctx, &bytes.Buffer{}); !errors.Is(err, checker.ErrNoPicture) {
		t.Errorf("a picture of it: %v", err)
	}
	small, err := checker.Shrink(ctx, h, "short holds", nil, own)
	if err != nil || len(small.Events) > 4 {
		t.Fatalf("%v: %+v", err, small)
	}
	again, err := checker.Check(ctx, small, own)
	if err != nil || len(again.Verdicts) != 1 || again.Verdicts[0].Witnesses[0].What != v.Witnesses[0].What {
		t.Errorf("%v: %+v", err, again)
	}
	if _, err := checker.Check(ctx, small); !errors.Is(err, checker.ErrNoGuarantee) {
		t.Errorf("without it, what was shrunk for it is judged: %v", err)
	}
}

func TestAnOwnGuaranteeHoldsOrIsIdle(t *testing.T) {
	for _, c := range []struct {
		h      *histories.History
		engine checker.Engine
		want   verdict.Outcome
	}{
		{cycles(1, 1), checker.Both, verdict.Holds},
		{cycles(1, 1), checker.Interval, verdict.Holds},
		{cycles(1, 1), checker.Porcupine, verdict.NotJudged},
		{cycles(), checker.Both, verdict.NotExercised},
	} {
		r, err := checker.Check(context.Background(), c.h, checker.WithGuarantee(shortHolds(2*time.Second)), checker.WithEngine(c.engine))
		if err != nil {
			t.Fatal(err)
		}
		if v := r.Verdict("short holds"); v.Outcome != c.want {
			t.Errorf("%s, %d events: %v, want %s", c.engine, len(c.h.Events), v, c.want)
		}
	}
	semaphore := cycles()
	semaphore.Header.Recipe = string(histories.Semaphore)
	r, err := checker.Check(context.Background(), semaphore, checker.WithGuarantee(shortHolds(time.Second)))
	if err != nil || r.Verdict("short holds") != nil {
		t.Errorf("of a recipe that it is not of: %v, %v", r, err)
	}
}

func TestAnOwnGuaranteeIsReadBackByItsName(t *testing.T) {
	r, err := checker.Check(context.Background(), cycles(5), checker.WithGuarantee(shortHolds(time.Second)))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back checker.Report
	if err := json.Unmarshal(stored, &back); err != nil {
		t.Fatal(err)
	}
	all := back.Guarantees()
	if g := all[len(all)-1]; g.Name != "short holds" || !g.Of(histories.Mutex) || len(all) != len(r.Guarantees()) {
		t.Errorf("%+v", all)
	}
}

func TestAnOwnGuaranteeHasANameOfItsOwn(t *testing.T) {
	for _, name := range []string{checker.Fencing, "short holds", ""} {
		g := shortHolds(time.Second)
		g.Name = name
		_, err := checker.Check(context.Background(), cycles(1), checker.WithGuarantee(shortHolds(time.Second)), checker.WithGuarantee(g))
		if err == nil || !strings.Contains(err.Error(), "name of its own") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// silent does not call Conclude or Idle.
type silent struct{}

func (silent) Event(int, *histories.Event) {}
func (silent) Conclude(*verdict.Verdict)   {}

func TestAJudgeThatDoesNotConcludeLeavesItUnknown(t *testing.T) {
	r, err := checker.Check(context.Background(), cycles(1), checker.WithGuarantee(checker.OwnGuarantee{
		Name: "mine", Begin: func(*histories.Header) checker.EventJudge { return silent{} },
	}))
	if err != nil || r.Verdict("mine").Outcome != verdict.Unknown || r.Outcome() != verdict.Unknown {
		t.Errorf("%v, %v", r, err)
	}
}
