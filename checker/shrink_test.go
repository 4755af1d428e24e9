package checker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/histories"
)

// haystack is a run of correct cycles by five processes, with one bad cycle in their middle.
func haystack(t testing.TB, cycles int, bad func(r *run, ms, token int)) *histories.History {
	r := newRun(t)
	for i := range cycles {
		at := 1 + 100*i
		if i == cycles/2 {
			r.fault(at, histories.FaultStart, "down", 1)
			bad(r, at+1, 10*i)
			r.fault(at+30, histories.FaultStop, "down", 1)
			continue
		}
		p := i % 5
		r.want(at, p).place(at+1, p, 10*i).got(at+2, p, 10*i).reads(at+3, p, 0).release(at+10, p).released(at+11, p)
	}
	return r.h
}

// doubleHold makes process 2 acquire the lock that process 1 holds.
func doubleHold(r *run, ms, token int) {
	r.want(ms, 1).got(ms+1, 1, token).want(ms+2, 2).got(ms+3, 2, token+1)
	r.release(ms+6, 1).released(ms+7, 1).release(ms+8, 2).released(ms+9, 2)
}

// overtaking makes process 2 hold the lock before process 1, which queued before it.
func overtaking(r *run, ms, token int) {
	r.want(ms, 1).place(ms+1, 1, token).want(ms+2, 2).place(ms+3, 2, token+1)
	r.got(ms+4, 2, token+1).release(ms+5, 2).released(ms+6, 2)
	r.got(ms+7, 1, token).release(ms+8, 1).released(ms+9, 1)
}

// oldToken makes process 2 hold the lock with a token that is older than all before.
func oldToken(r *run, ms, _ int) { r.cycle(ms, ms+5, 2, 1) }

func TestShrinkLeavesTheViolationAndLittleElse(t *testing.T) {
	for _, c := range []struct {
		guarantee string
		bad       func(*run, int, int)
		most      int // operations: each hold includes its release
	}{
		{MutualExclusion, doubleHold, 4},
		{Fairness, overtaking, 4},
		{Fencing, oldToken, 4},
	} {
		t.Run(c.guarantee, func(t *testing.T) {
			h := haystack(t, 400, c.bad)
			before, err := Check(context.Background(), h)
			if err != nil {
				t.Fatal(err)
			}
			events := len(h.Events)
			small, err := Shrink(context.Background(), h, c.guarantee, func(left int) {
				if left >= events {
					t.Errorf("progress from %d to %d", events, left)
				}
				events = left
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(small.Events) != events {
				t.Errorf("%d events, progress spoke of %d", len(small.Events), events)
			}
			if n := operations(small); n > c.most {
				t.Errorf("%d operations are left: %v", n, small.Events)
			}
			after, err := Check(context.Background(), small)
			if err != nil {
				t.Fatal(err)
			}
			was, is := before.Verdict(c.guarantee).Witnesses[0], after.Verdict(c.guarantee).Witnesses[0]
			if was.String() != is.String() {
				t.Errorf("it was %q, and is %q", was, is)
			}
			again, err := Shrink(context.Background(), small, c.guarantee, nil)
			if err != nil || len(again.Events) != len(small.Events) {
				t.Errorf("shrunk again: %v, %v", again, err)
			}
		})
	}
}

func TestShrinkAndExplainRefuseWhatIsNotViolated(t *testing.T) {
	good := newRun(t).cycle(1, 2, 1, 1).h
	for guarantee, want := range map[string]error{"": ErrNotViolated, MutualExclusion: ErrNotViolated, "mutal exclusion": ErrNoGuarantee} {
		if _, err := Shrink(context.Background(), good, guarantee, nil); !errors.Is(err, want) {
			t.Errorf("shrink for %q: %v", guarantee, err)
		}
		if _, err := Explain(context.Background(), good, guarantee); !errors.Is(err, want) {
			t.Errorf("explain %q: %v", guarantee, err)
		}
	}
}

func TestARefusalSaysWhatCameOfTheGuarantee(t *testing.T) {
	good := newRun(t).cycle(1, 2, 1, 1).h
	unpromised := newRun(t).cycle(1, 2, 1, 1).h
	unpromised.Header.Promises.Tokens = false
	for _, c := range []struct {
		h               *histories.History
		guarantee, want string
	}{
		{good, MutualExclusion, "mutual exclusion holds; no guarantee is violated"},
		{good, Barriers, "barriers is no guarantee of the recipes that were driven; no guarantee is violated"},
		{good, LossIsTold, "loss is told was not exercised: "},
		{unpromised, Fencing, "fencing is not promised by the target; no guarantee is violated"},
	} {
		if _, err := Explain(context.Background(), c.h, c.guarantee); !errors.Is(err, ErrNotViolated) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestShrinkEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	_, err := Shrink(ctx, haystack(t, 100, doubleHold), "", func(int) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestExplainTellsTheStoryInTenLines(t *testing.T) {
	x, err := Explain(context.Background(), haystack(t, 20, doubleHold), "")
	if err != nil {
		t.Fatal(err)
	}
	var story strings.Builder
	for _, l := range x.Story {
		story.WriteString(l.What + "\n")
	}
	want := `process 4 has given a back
fault down on client begins
process 1 calls acquire of a
process 1 has a with token 0x64
process 2 calls acquire of a
process 2 has a with token 0x65
process 1 calls release of a
process 1 has given a back
process 2 calls release of a
process 2 has given a back
`
	if story.String() != want {
		t.Errorf("got\n%s", story.String())
	}
	if x.Story[1].Line != 72 || x.Verdict.Guarantee != MutualExclusion {
		t.Errorf("%v on line %d", x.Verdict, x.Story[1].Line)
	}
	if want := "A store behind the fence takes 0x65 from process 2, and from then on refuses 0x64, that of process 1: no update is lost."; x.Fencing != want {
		t.Errorf("got %q", x.Fencing)
	}
}

// Without the changes of the size that were in force, the same grants would exceed another
// size.
func TestShrinkLeavesTheSizeThatWasInForce(t *testing.T) {
	r := newRun(t)
	semaphore(histories.SharedSemaphore, func(r *run) {
		r.resize(1, 2, 9, 2, histories.OK).resize(3, 4, 9, 8, histories.OK)
		r.permits(5, 1, 6, 1) // fits 8, and not 3
		r.resize(6, 7, 9, 9, histories.OK).resize(8, 9, 9, 7, histories.OK)
		r.permits(10, 2, 2, 2) // one too many for 7
		r.resize(11, 12, 9, 20, histories.OK).permits(13, 3, 1, 3)
	})(r)
	before := r.report().Verdict(Permits)
	small, err := Shrink(context.Background(), r.h, Permits, nil)
	if err != nil {
		t.Fatal(err)
	}
	report, err := Check(context.Background(), small)
	if err != nil {
		t.Fatal(err)
	}
	after := report.Verdict(Permits)
	if before.Violations != 1 || after.Violations != 1 || after.Witnesses[0].What != before.Witnesses[0].What {
		t.Errorf("it was %v, and is %v", before.Witnesses, after.Witnesses)
	}
	var sizes []int
	for _, e := range small.Events {
		if e.Type == histories.Invoke && e.Op == histories.SetSize {
			sizes = append(sizes, e.Size)
		}
	}
	// 20 is in the last event: a permit that is never released is held until then.
	if !slices.Equal(sizes, []int{8, 7, 20}) {
		t.Errorf("the sizes that are left are %v", sizes)
	}
}

// Without the remove that let others pass, there would be no remove at all.
func TestShrinkLeavesTheRemoveThatWasUnderWay(t *testing.T) {
	r := newRun(t).ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.Barrier}})
	does := func(from, to, p int, op histories.Op) {
		r.op(from, histories.Invoke, p, op, histories.Event{}).op(to, histories.OK, p, op, histories.Event{})
	}
	does(1, 2, 1, histories.Set)
	does(3, 4, 1, histories.Remove)
	does(5, 6, 2, histories.Wait)
	does(7, 8, 1, histories.Set)
	r.op(9, histories.Invoke, 3, histories.Remove, histories.Event{})
	does(10, 11, 2, histories.Wait)
	does(12, 13, 1, histories.Set)
	does(14, 15, 2, histories.Wait)
	r.op(16, histories.OK, 3, histories.Remove, histories.Event{})
	before := r.report().Verdict(Barriers)
	small, err := Shrink(context.Background(), r.h, Barriers, nil)
	if err != nil {
		t.Fatal(err)
	}
	report, err := Check(context.Background(), small)
	if err != nil {
		t.Fatal(err)
	}
	if after := report.Verdict(Barriers); after.Witnesses[0].What != before.Witnesses[0].What {
		t.Errorf("it was %v, and is %v", before.Witnesses, after.Witnesses)
	}
	if len(small.Events) >= len(r.h.Events) {
		t.Errorf("%d events are left", len(small.Events))
	}
}
