package checker

import (
	"context"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/histories"
)

// robbed forces a session to expire; the fault names the processes that it hits.
func (r *run) robbed(from, to int, session string, processes ...int) *run {
	r.fault(from, histories.FaultStart, histories.ForcedExpiry, processes...)
	start := r.h.Events[len(r.h.Events)-1].Fault
	start.Params = map[string]string{"session": session}
	r.fault(to, histories.FaultStop, histories.ForcedExpiry, processes...)
	stop := *start
	r.h.Events[len(r.h.Events)-1].Fault = &stop
	return r
}

// TestAWitnessNamesTheEndOfTheSession looks at two holds that overlap from 900 ms to
// 1100 ms, longer than the loss bound after the fault.
func TestAWitnessNamesTheEndOfTheSession(t *testing.T) {
	overlap := func(before, after func(*run)) *run {
		r := newRun(t).want(0, 1).got(1, 1, 1)
		before(r)
		r.want(800, 2).got(900, 2, 2).release(1100, 1).released(1101, 1).release(1102, 2).released(1103, 2)
		after(r)
		return r
	}
	nothing := func(*run) {}
	for name, c := range map[string]struct {
		r                 *run
		what, story, none string
	}{
		"seen before":             {overlap(func(r *run) { r.expired(700, 1) }, nothing), "session of process 1 was seen to end at 0.700000 s", "the servers have ended session s1", ""},
		"seen after":              {overlap(nothing, func(r *run) { r.expired(1400, 1) }), "session of process 1 was seen to end at 1.400000 s", "the servers have ended session s1", ""},
		"long after":              {overlap(nothing, func(r *run) { r.expired(1900, 1) }), "", "", "session"},
		"forced, seen after":      {overlap(func(r *run) { r.robbed(10, 12, "s1", 1) }, func(r *run) { r.expired(1400, 1) }), "session of process 1 had been forced to expire by 0.012000 s", "the servers have ended session s1", ""},
		"forced, never seen":      {overlap(func(r *run) { r.robbed(10, 12, "s1", 1) }, nothing), "session of process 1 had been forced to expire by 0.012000 s", "fault expire-session on client begins", ""},
		"forced, another session": {overlap(func(r *run) { r.robbed(10, 12, "s9", 3) }, nothing), "", "", "session"},
	} {
		t.Run(name, func(t *testing.T) {
			c.r.h.Header.Promises.LossBound = 5e8
			x, err := Explain(context.Background(), c.r.h, MutualExclusion)
			if err != nil {
				t.Fatal(err)
			}
			var story strings.Builder
			for _, l := range x.Story {
				story.WriteString(l.What + "\n")
			}
			if !strings.Contains(x.Witness.What, c.what) || !strings.Contains(story.String(), c.story) {
				t.Errorf("%s\n%s", x.Witness.What, &story)
			}
			if c.none != "" && strings.Contains(x.Witness.What, c.none) {
				t.Errorf("it says %q: %s", c.none, x.Witness.What)
			}
			small, err := Shrink(context.Background(), c.r.h, MutualExclusion, nil)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := Explain(context.Background(), small, ""); err != nil || again.Witness.What != x.Witness.What {
				t.Errorf("shrunk: %v, %v", again, err)
			}
		})
	}
}

func TestALossThatWasNotToldNamesTheFaultThatEndedTheSession(t *testing.T) {
	r := newRun(t).want(0, 1).got(1, 1, 1).robbed(10, 12, "s1", 1).expired(30, 1).release(1100, 1).released(1101, 1)
	r.h.Header.Promises.LossBound = 5e8
	x, err := Explain(context.Background(), r.h, LossIsTold)
	if err != nil {
		t.Fatal(err)
	}
	if want := "the session of process 1 had been forced to expire by 0.012000 s while it held"; !strings.Contains(x.Witness.What, want) {
		t.Errorf("%s, want %s", x.Witness.What, want)
	}
}
