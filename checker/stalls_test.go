package checker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// stalled records that the recording process stood still.
func (r *run) stalled(from, to int) *run {
	r.h.Header.Version = 4 // the first with stalls
	return r.add(to, histories.Event{Type: histories.Stalled, Process: -1, Since: time.Duration(from) * time.Millisecond})
}

// The session timeout is 2000: after a stall a holder has 100 ms and as much slack to
// notice.
func TestStallsAndMutualExclusion(t *testing.T) {
	answers(t, MutualExclusion, []known{
		{"a loss is on record late, for the bench stood still", func(r *run) {
			r.want(0, 1).got(1, 1, 1).stalled(2000, 2300).want(2300, 2).got(2301, 2, 2).lost(2302, 1).release(9000, 2).released(9001, 2)
		}, verdict.Holds},
		{"a holder believes on long after the bench stood still", func(r *run) {
			r.want(0, 1).got(1, 1, 1).stalled(2000, 2300).want(2300, 2).got(2301, 2, 2).lost(2502, 1).release(9000, 2).released(9001, 2)
		}, verdict.Violated},
		{"two holders overlapped before the bench stood still", func(r *run) {
			r.want(0, 1).got(1, 1, 1).want(2, 2).got(3, 2, 2).stalled(10, 2300).lost(2301, 1).release(9000, 2).released(9001, 2)
		}, verdict.Violated},
		{"the bench stood still before the acquire", func(r *run) {
			r.stalled(0, 900).want(2000, 1).got(2001, 1, 1).want(2300, 2).got(2301, 2, 2).lost(2302, 1).release(9000, 2).released(9001, 2)
		}, verdict.Violated},
	})
}

func TestStallsAndLoss(t *testing.T) {
	answers(t, LossIsTold, []known{
		{"a loss is told once the bench runs again", func(r *run) {
			r.want(0, 1).got(1, 1, 1).stalled(1000, 4000).expired(4001, 1).lost(4200, 1)
		}, verdict.Holds},
		{"a loss is told long after the bench runs again", func(r *run) {
			r.want(0, 1).got(1, 1, 1).stalled(1000, 4000).expired(4001, 1).lost(4201, 1)
		}, verdict.Violated},
		{"the bench stands still after a forced expiry and before its bound", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expire(10, 1).expired(11, 1).stalled(40, 400).lost(401, 1)
		}, verdict.Holds},
		{"the bench stands still after the bound of a forced expiry", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expire(10, 1).expired(11, 1).stalled(70, 400).lost(401, 1)
		}, verdict.Violated},
	})
}

func TestStallsAndRevocation(t *testing.T) {
	const ok = histories.OK
	holds := func(r *run) *run { return r.want(1, 1).got(2, 1, 5) }
	late := `process 2 asked for the release of lock "a" at %s s and was answered at %s s; process 1 held it with token 0x5 and had to be told by %s s, but was told only at %s s`
	says := func(at ...string) string {
		s := late
		for _, x := range at {
			s = strings.Replace(s, "%s", x, 1)
		}
		return s
	}
	// The bound is 10 ms, a session lives for 2 s.
	tell(t, Revocation, map[string]histories.Lock{"a": {Recipe: histories.Revocation}}, []told{
		{"the bench stands still before the holder is told", func(r *run) {
			holds(r).revoke(3, 4, 2, 5, ok).stalled(4, 1254).told(1255, 1, 5).release(1300, 1)
		}, verdict.NotExercised, "", 0},
		{"the bench has just stood still, and the holder is told late", func(r *run) {
			holds(r).stalled(2, 1252).revoke(1253, 1254, 2, 5, ok).told(1265, 1, 5).release(1300, 1)
		}, verdict.NotExercised, "", 0},
		{"the bench stands still when the bound is over", func(r *run) {
			holds(r).revoke(3, 4, 2, 5, ok).stalled(15, 1254).told(1255, 1, 5).release(1300, 1)
		}, verdict.Violated, says("0.003000", "0.004000", "0.014000", "1.255000"), 0},
		{"the bench stood still long before, and the holder is told late", func(r *run) {
			holds(r).stalled(2, 202).revoke(5003, 5004, 2, 5, ok).told(5015, 1, 5).release(5050, 1)
		}, verdict.Violated, says("5.003000", "5.004000", "5.014000", "5.015000"), 0},
	})
}

func TestStallsAreTold(t *testing.T) {
	r := newRun(t)
	r.want(0, 1).got(1, 1, 1).stalled(2000, 2300).want(2300, 2).got(2301, 2, 2).lost(2302, 1).stalled(2400, 2520).release(9000, 2).released(9001, 2)
	notes := r.report().Notes
	for _, want := range []string{"the process that records stood still 2 times, for 300 ms at most", "1 overlap of beliefs"} {
		if !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, want) }) {
			t.Errorf("no note says %q: %q", want, notes)
		}
	}
}
