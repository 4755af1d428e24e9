package remote

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/workload/internal/protocol"
)

func TestLinesThatAPauseHasHeldUpAreNotLate(t *testing.T) {
	l := newLateness(time.Second)
	l.received(1000, 1000+int64(3*time.Millisecond))
	l.pause()
	l.received(2000, int64(time.Hour))
	l.resumed()
	l.received(l.resume-int64(time.Second), l.resume) // stamped before it was stopped
	l.received(l.resume+1, l.resume+1+int64(2*time.Millisecond))
	if got := sum([]*lateness{l}); got.Lines != 2 || got.Worst != 3*time.Millisecond {
		t.Errorf("%+v; want the two lines outside of the pause", got)
	}
}

func TestAWorkerIsSilentWhenItIsStoppedAndNoPauseIsOn(t *testing.T) {
	second := int64(time.Second)
	for name, in := range map[string]struct {
		happens func(*lateness)
		silent  time.Duration
	}{
		"it is not asked": {func(l *lateness) { l.ran = 0; l.received(9*second, 9*second) }, 0},
		"it answers":      {func(l *lateness) { l.received(1*second, second); l.received(3*second, 3*second) }, 2 * time.Second},
		"a line is out of order": {func(l *lateness) {
			l.received(3*second, 3*second)
			l.received(2*second, 3*second)
			l.received(4*second, 4*second)
		}, 3 * time.Second},
		"a pause": {func(l *lateness) {
			l.ran = protocol.Now()
			l.pause()
			l.resumed()
			l.received(l.resume+second, l.resume+second)
		}, time.Second},
		"a pause that is long": {func(l *lateness) {
			l.ran, l.paused = 1, true
			l.resumed()
			l.received(l.resume+second, l.resume+second)
		}, time.Second},
		"a stop just before a pause": {func(l *lateness) { l.ran = protocol.Now() - 5*second; l.pause() }, 5 * time.Second},
		"another process takes over": {func(l *lateness) {
			l.ran = protocol.Now()
			l.unasked()
			l.asked()
			l.received(l.ran+second, l.ran+second)
		}, time.Second},
		"a stop without a question": {func(l *lateness) { l.ran = protocol.Now(); l.unasked(); l.received(7*second, 7*second) }, 0},
		"a stop without an end":     {func(l *lateness) { l.ran = protocol.Now() - 7*second; l.unasked() }, 7 * time.Second},
		"a pause without an end":    {func(l *lateness) { l.ran = protocol.Now() - 7*second; l.paused = true; l.unasked() }, 0},
	} {
		l := newLateness(time.Second)
		l.ran = 1
		in.happens(l)
		all := sum([]*lateness{newLateness(time.Second), l})
		if long := in.silent > time.Second; (len(all.Silences) > 0) != long || long && (all.Silences[0].Worker != 2 || (all.Silences[0].To.Sub(all.Silences[0].From)-all.Silent).Abs() > time.Millisecond) {
			t.Errorf("%s: the silences are %v", name, all.Silences)
		}
		if got := all.Silent; got < in.silent-time.Millisecond || got > in.silent+100*time.Millisecond {
			t.Errorf("%s: silent for %v, want %v", name, got, in.silent)
		}
	}
}

// A worker that sends wrong times cannot make silences longer than the time that has passed.
func TestLinesOfTheFutureAreLinesOfNow(t *testing.T) {
	l := newLateness(time.Minute)
	l.asked()
	for i := range 1000 {
		now := protocol.Now()
		l.received(now+int64(i+1)*int64(time.Hour), now)
	}
	if got := sum([]*lateness{l}); len(got.Silences) > 0 || got.Silent > time.Minute || got.Lines != 1000 {
		t.Errorf("%d silences, of %v at most, in %d lines", len(got.Silences), got.Silent, got.Lines)
	}
}
