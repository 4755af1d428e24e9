package checker

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// notHeld answers a holder's release with "not held".
func (r *run) notHeld(ms, p int) *run {
	return r.op(ms, histories.Fail, p, histories.Release, histories.Event{Depth: 1, Error: "not held"})
}

func TestTheReadingOfAReleaseThatIsAnsweredNotHeldDecides(t *testing.T) {
	both := map[ReleaseNotHeld]verdict.Outcome{NotHeldAsLost: verdict.Holds, NotHeldAsViolation: verdict.Violated}
	neither := map[ReleaseNotHeld]verdict.Outcome{NotHeldAsLost: verdict.Holds, NotHeldAsViolation: verdict.Holds}
	for _, c := range []struct {
		name      string
		guarantee string
		make      func(*run)
		want      map[ReleaseNotHeld]verdict.Outcome
	}{
		{"a holder who had not been told is answered not held", MutualExclusion, func(r *run) {
			r.want(0, 1).got(1, 1, 1).release(5, 1).notHeld(6, 1)
		}, both},
		{"another holds it while a holder who had not been told is answered not held", MutualExclusion, func(r *run) {
			r.want(0, 1).got(1, 1, 1).want(2, 2).release(5, 1).got(6, 2, 2).notHeld(7, 1).release(8, 2).released(9, 2)
		}, both},
		{"a holder who was told is answered not held", MutualExclusion, func(r *run) {
			r.want(0, 1).got(1, 1, 1).lost(2, 1).release(5, 1).notHeld(6, 1)
		}, neither},
		{"a holder is told while its release is under way", MutualExclusion, func(r *run) {
			r.want(0, 1).got(1, 1, 1).release(5, 1).lost(6, 1).notHeld(7, 1)
		}, neither},
		{"a holder whose session was expired by force is answered not held within the bound", MutualExclusion, func(r *run) {
			r.want(0, 1).got(1, 1, 1).expire(10, 1).release(20, 1).notHeld(21, 1)
		}, neither},
		{"a holder whose session was expired by force is answered not held after the bound", MutualExclusion, func(r *run) {
			r.want(0, 1).got(1, 1, 1).expire(10, 1).release(90, 1).notHeld(91, 1)
		}, both},
		{"who holds nothing is answered not held", MutualExclusion, func(r *run) {
			r.cycle(0, 1, 1, 1).release(5, 1).notHeld(6, 1)
		}, neither},
		{"a release that was never answered proves nothing", MutualExclusion, func(r *run) {
			r.want(0, 1).got(1, 1, 1).release(5, 1)
		}, neither},
		{"an inner release is answered not held", MutualExclusion, func(r *run) {
			r.want(0, 1).got(1, 1, 1).want(2, 1).deeper(3, 1, 1, 2)
			r.op(4, histories.Invoke, 1, histories.Release, histories.Event{Depth: 2}).op(5, histories.Fail, 1, histories.Release, histories.Event{Depth: 2})
			r.release(6, 1).released(7, 1)
		}, neither},
		{"a reader who had not been told is answered not held", ReadersAndWriters, readWrite(func(r *run) {
			r.takes(1, 1, reading, 1).mode(2, histories.Invoke, 1, histories.Release, reading, 0).mode(3, histories.Fail, 1, histories.Release, reading, 0)
		}), both},
		{"a holder of permits who had not been told is answered not held", Permits, semaphore(histories.Semaphore, func(r *run) {
			r.permits(1, 1, 2, 1).both(2, histories.Fail, 1, histories.Release, histories.Event{Permits: 2, Token: tok(1)})
		}), both},
	} {
		for reading, want := range c.want {
			name := c.name + ", read as " + strings.ReplaceAll(string(reading), "-", " ")
			t.Run(name, func(t *testing.T) {
				r := newRun(t)
				c.make(r)
				inCorpus(t, r.h, c.guarantee, known{name, c.make, want}, option{"release-not-held", string(reading)})
				report := r.report(WithReleaseNotHeld(reading))
				v := report.Verdict(c.guarantee)
				if v.Outcome != want {
					t.Errorf("got %v, want %s; %v", v, want, v.Witnesses)
				}
				if c.want[NotHeldAsViolation] == verdict.Violated && reading == NotHeldAsLost && !strings.Contains(strings.Join(report.Notes, "\n"), "1 release failed before the holder was told") {
					t.Errorf("the report does not say how it was read: %q", report.Notes)
				}
			})
		}
	}
}

func TestAReleaseThatIsAnsweredNotHeldIsToldAndShrunk(t *testing.T) {
	h := haystack(t, 40, func(r *run, ms, token int) {
		r.want(ms, 1).got(ms+1, 1, token).release(ms+5, 1).notHeld(ms+6, 1)
	})
	violation := WithReleaseNotHeld(NotHeldAsViolation)
	small, err := Shrink(context.Background(), h, "", nil, violation)
	if err != nil {
		t.Fatal(err)
	}
	if len(small.Events) > 6 {
		t.Errorf("%d events are left", len(small.Events))
	}
	x, err := Explain(context.Background(), small, "", violation)
	if err != nil {
		t.Fatal(err)
	}
	want := `process 1 held lock "a" since 2.003000 s and was not told of a loss, but its release of 2.007000 s was answered at 2.008000 s that it did not hold it: not held`
	if x.Witness.What != want {
		t.Errorf("got %q", x.Witness.What)
	}
	var page bytes.Buffer
	if err := x.Picture(context.Background(), &page); err != nil || !strings.Contains(page.String(), "what is wrong is not their order") {
		t.Errorf("the picture: %v", err)
	}
	if x, err := Explain(context.Background(), h, MutualExclusion); err == nil {
		t.Errorf("as word of a loss it is a violation, too: %v", x.Witness)
	}
}

// A release that returned because its context had ended says nothing of the lock.
func TestAReleaseAfterItsContextIsNotAnsweredNotHeld(t *testing.T) {
	r := newRun(t).want(0, 1).got(1, 1, 1).release(5, 1)
	r.op(6, histories.Fail, 1, histories.Release, histories.Event{Depth: 1, Error: "context canceled", Late: 1})
	if v := r.report(WithReleaseNotHeld(NotHeldAsViolation)).Verdict(MutualExclusion); v.Outcome != verdict.Holds {
		t.Errorf("%v %v", v, v.Witnesses)
	}
}
