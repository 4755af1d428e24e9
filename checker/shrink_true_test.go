package checker

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkverify/zkverify/checker/internal/drawn"
	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// operations counts the invocations.
func operations(h *histories.History) int {
	n := 0
	for i := range h.Events {
		if h.Events[i].Type == histories.Invoke {
			n++
		}
	}
	return n
}

// violationsOf returns all violations of a guarantee in h, described without the line numbers
// of the file, which differ between histories.
func violationsOf(t rapid.TB, h *histories.History, guarantee string, opts ...Option) (told []string, all []verdict.Witness) {
	t.Helper()
	r, err := Check(context.Background(), h, append(opts, func(c *check) { c.everyOne = true })...)
	if err != nil {
		t.Fatal(err)
	}
	v := r.Verdict(guarantee)
	if v == nil || v.Outcome != verdict.Violated {
		return nil, nil
	}
	for _, w := range v.Witnesses {
		text := fmt.Sprint(w.Lock, w.From, w.To, w.Open, w.What)
		for _, p := range w.Parties {
			text += fmt.Sprint(p.Process, p.Owner, p.Session, p.Token, p.From, p.To, p.Open)
		}
		told = append(told, text)
	}
	if len(told) != v.Violations {
		t.Fatalf("%s: %d witnesses of %d violations", guarantee, len(told), v.Violations)
	}
	return told, v.Witnesses
}

// shrinksTruly shrinks h for a guarantee that it violates, and checks the properties of a
// shrunk history.
func shrinksTruly(t rapid.TB, h *histories.History, guarantee string, opts ...Option) *histories.History {
	t.Helper()
	small, err := Shrink(context.Background(), h, guarantee, nil, opts...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", guarantee, err, drawn.Text(h))
	}
	before, was := violationsOf(t, h, guarantee, opts...)
	after, is := violationsOf(t, small, guarantee) // by its header: without the options
	if !slices.Contains(after, before[0]) {
		t.Fatalf("%s: %s\nis not told any more:\n%s", guarantee, before[0], drawn.Text(small))
	}
	for _, one := range after {
		if !slices.Contains(before, one) {
			t.Fatalf("%s: %s\nis of the shrinking's making:\n%s\nof\n%s", guarantee, one, drawn.Text(small), drawn.Text(h))
		}
	}
	first, found := was[0], is[slices.Index(after, before[0])]
	if len(first.Faults) > 0 && (len(found.Faults) == 0 || found.Faults[0].ID != first.Faults[0].ID || found.Faults[0].From != first.Faults[0].From || found.Faults[0].To != first.Faults[0].To && !found.Faults[0].Open) {
		t.Fatalf("%s: its fault was %v, and is %v\n%s", guarantee, first.Faults[0], found.Faults, drawn.Text(small))
	}
	for _, p := range first.Parties {
		ended, seen := facts.Of(h).Sessions.Expired[p.Session]
		if still, ok := facts.Of(small).Sessions.Expired[p.Session]; seen && ended <= max(first.To, p.To) && (!ok || still != ended) {
			t.Fatalf("%s: the end of session %s is not told any more\n%s", guarantee, p.Session, drawn.Text(small))
		}
	}
	part := h.Events // small must be a part of it, in its order
	for i := range small.Events {
		at := slices.IndexFunc(part, func(e histories.Event) bool { return fmt.Sprint(e) == fmt.Sprint(small.Events[i]) })
		if at < 0 {
			t.Fatalf("%s: event %d was not there: %v", guarantee, i, small.Events[i])
		}
		part = part[at+1:]
	}
	r, err := Check(context.Background(), small)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Verdicts) != 1 || r.Verdicts[0].Guarantee != guarantee || len(r.Disagreements) == 0 && r.Outcome() != verdict.Violated {
		t.Fatalf("it is judged on %v: %s", r.Verdicts, r.Outcome())
	}
	return small
}

// violated returns the guarantees that h violates.
func violated(t rapid.TB, h *histories.History, opts ...Option) []string {
	t.Helper()
	r, err := Check(context.Background(), h, opts...)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range r.Verdicts {
		if r.Verdicts[i].Outcome == verdict.Violated {
			names = append(names, r.Verdicts[i].Guarantee)
		}
	}
	return names
}

func TestADrawnHistoryShrinksToAViolationThatItHas(t *testing.T) {
	shrunk := map[string]int{}
	for _, f := range drawn.Families {
		t.Run(f.Name, func(t *testing.T) {
			drawn.Checks(t, 600, func(t *rapid.T) {
				h := drawn.History(t, f.Recipes...)
				opt := WithReleaseNotHeld([]ReleaseNotHeld{"", NotHeldAsLost, NotHeldAsViolation}[rapid.IntRange(0, 2).Draw(t, "not held")])
				for _, guarantee := range violated(t, h, opt) {
					shrinksTruly(t, h, guarantee, opt)
					shrunk[guarantee]++
				}
			})
		})
	}
	t.Run("counters", func(t *testing.T) {
		drawn.Checks(t, 600, func(t *rapid.T) {
			h := drawCounters(t)
			for _, guarantee := range violated(t, h) {
				shrinksTruly(t, h, guarantee)
				shrunk[guarantee]++
			}
		})
	})
	t.Log(shrunk)
	for _, g := range []string{MutualExclusion, Reentrancy, Fencing, Fairness, NoLostUpdatePlain, LossIsTold, ReadersAndWriters, Permits, AllOrNothing, Revocation, Barriers} {
		if shrunk[g] == 0 && !testing.Short() && !drawn.Race {
			t.Errorf("%s was never violated: %v", g, shrunk)
		}
	}
}

// drawCounters draws a history of holders that increment two counters of a lock, most of them
// one after the other, and some by a value that they read long ago.
func drawCounters(t *rapid.T) *histories.History {
	r := newRun(nil)
	values := map[string]int{}
	for i := range rapid.IntRange(2, 12).Draw(t, "holds") {
		at, p := 20*i, i%3+1
		r.want(at, p).got(at+1, p, i+1)
		for n := range rapid.IntRange(0, 3).Draw(t, "increments") {
			store := []string{histories.StorePlain, histories.StoreFenced}[rapid.IntRange(0, 1).Draw(t, "store")]
			value := values[store]
			if rapid.IntRange(0, 5).Draw(t, "old") == 5 {
				value = max(0, value-rapid.IntRange(1, 5).Draw(t, "by"))
			}
			e := histories.Event{Store: store, Value: int64(value)}
			r.op(at+2+n, histories.Invoke, p, histories.Read, histories.Event{Store: store}).op(at+2+n, histories.OK, p, histories.Read, e)
			e.Value++
			values[store] = max(values[store], value+1)
			r.op(at+2+n, histories.Invoke, p, histories.Write, e)
			if rapid.IntRange(0, 9).Draw(t, "answer") == 9 {
				r.op(at+2+n, histories.Fail, p, histories.Write, e)
				continue
			}
			r.op(at+2+n, histories.OK, p, histories.Write, e)
		}
		r.release(at+8, p).released(at+9, p)
	}
	return r.h
}

func TestEveryViolationOfTheCorpusShrinks(t *testing.T) {
	shrunk := map[string]int{}
	for _, h := range readCorpus(t) {
		opt := WithReleaseNotHeld(ReleaseNotHeld(h.Header.Options["release-not-held"]))
		for _, guarantee := range violated(t, h, opt) {
			shrinksTruly(t, h, guarantee, opt)
			shrunk[guarantee]++
		}
	}
	for _, g := range guarantees {
		if shrunk[g.Name] == 0 && !g.ofServers {
			t.Errorf("no history of the corpus violates %s", g.Name)
		}
	}
}

// The history of a zkverify run with zk.Lock in which sessions were ended by another client:
// two processes held one lock, and increments were lost.
func TestARecordedHistoryShrinksToAFewOperations(t *testing.T) {
	h, err := histories.ReadFile(filepath.Join("testdata", "zk-lock.jsonl.zst"))
	if err != nil {
		t.Fatal(err)
	}
	most := map[string]int{MutualExclusion: 4, NoLostUpdatePlain: 8}
	stories := map[string]string{
		MutualExclusion: `process 0 calls acquire of lock-0
process 0 has lock-0
fault expire-session on client 0 begins
the servers have ended session 0x0300001aa4620000
process 2 calls acquire of lock-0
process 2 has lock-0
process 2 calls release of lock-0
process 2 has given lock-0 back
process 0 calls release of lock-0
process 0: release of lock-0 fails: lease lost; zk: node does not exist
`,
		NoLostUpdatePlain: `process 0 has lock-0
fault expire-session on client 0 begins
the servers have ended session 0x0300001aa4620000
process 2 has lock-0
process 2 reads 78, plain store of lock-0
process 0 reads 78, plain store of lock-0
process 0 writes 79, plain store of lock-0
process 2 writes 79, plain store of lock-0
process 2 calls release of lock-0
process 0 calls release of lock-0
`}
	if got := violated(t, h); !slices.Contains(got, MutualExclusion) || !slices.Contains(got, NoLostUpdatePlain) {
		t.Fatalf("it violates %v", got)
	}
	for _, guarantee := range violated(t, h) {
		small := shrinksTruly(t, h, guarantee)
		if n := operations(small); n > most[guarantee] {
			t.Errorf("%s: %d operations are left\n%s", guarantee, n, drawn.Text(small))
		}
		x, err := Explain(context.Background(), small, guarantee)
		if err != nil {
			t.Fatal(err)
		}
		var story strings.Builder
		for _, l := range x.Story {
			story.WriteString(l.What + "\n")
		}
		if story.String() != stories[guarantee] {
			t.Errorf("%s: got\n%s", guarantee, story.String())
		}
		_, all := violationsOf(t, small, guarantee)
		if !strings.Contains(all[0].String(), "Fault expire-") {
			t.Errorf("%s: no fault is named: %s", guarantee, all[0])
		}
	}
}

// A part that lacks earlier writes of a counter does not report them as lost.
func TestWritesThatWereLeftOutAreNotMissed(t *testing.T) {
	r := newRun(t)
	r.want(0, 1).got(1, 1, 1).reads(2, 1, 0)
	r.lost(3, 2)
	for i := range 9 {
		at := 10 + 10*i
		r.want(at, 2).got(at+1, 2, 2+i).reads(at+2, 2, i).writes(at+3, 2, i+1).release(at+4, 2).released(at+5, 2)
	}
	r.writes(200, 1, 1).release(201, 1).released(202, 1)
	small := shrinksTruly(t, r.h, NoLostUpdatePlain)
	if n := operations(small); n > 8 {
		t.Errorf("%d operations are left: %s", n, drawn.Text(small))
	}
	if w := small.Header.Shrunk.Written; len(w) == 0 {
		t.Error("the header names no write that was left out")
	}
	again := shrinksTruly(t, small, NoLostUpdatePlain)
	if again.Header.Shrunk.Events != len(r.h.Events) || len(again.Events) != len(small.Events) {
		t.Errorf("shrunk again: %+v, %d events of %d", again.Header.Shrunk, len(again.Events), len(small.Events))
	}
}

func TestAHeaderThatSaysForWhatItWasShrunkMustMeanSomething(t *testing.T) {
	r := newRun(t).cycle(1, 2, 1, 1)
	for _, guarantee := range []string{"", "luck", Permits} {
		r.h.Header.Shrunk = &histories.Shrunk{Guarantee: guarantee, Events: 9}
		if _, err := Check(context.Background(), r.h); err == nil {
			t.Errorf("shrunk for %q: no error", guarantee)
		}
	}
}
