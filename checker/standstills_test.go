package checker

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// lostLate says that p was told of its loss at some time within late of ms: until then
// the run's own process stood still.
func (r *run) lostLate(ms, late, p int) *run {
	e := histories.Event{Type: histories.Lost, Process: p, Lock: "a", Late: time.Duration(late) * time.Millisecond}
	return r.add(ms, e)
}

// succeeded is a holder whose session ends at 2200; another client gets its lock at 2301
// and has it until 9000. Both live in the run's own process.
func succeeded(r *run) *run {
	return r.want(0, 1).got(1, 1, 1).expired(2200, 1).want(2300, 2).got(2301, 2, 2)
}

func TestALossThatAStandstillHasHeldUp(t *testing.T) {
	answers(t, MutualExclusion, []known{
		{"it may have been told before the next grant", func(r *run) {
			succeeded(r).lostLate(2400, 110, 1).release(9000, 2).released(9001, 2)
		}, verdict.Holds},
		{"it was told after the next grant all the same", func(r *run) {
			succeeded(r).lostLate(2400, 90, 1).release(9000, 2).released(9001, 2)
		}, verdict.Violated},
		{"it was told of another lease", func(r *run) {
			succeeded(r).add(2400, histories.Event{Type: histories.Lost, Process: 1, Lock: "a", Session: "older", Late: 110 * time.Millisecond}).
				release(9000, 2).released(9001, 2)
		}, verdict.Violated},
		{"who was not told is not excused by it", func(r *run) {
			succeeded(r).lostLate(2400, 200, 3).release(2400, 1).released(2401, 1).release(9000, 2).released(9001, 2)
		}, verdict.Violated},
	})
	answers(t, LossIsTold, []known{
		{"it may have been told in time", func(r *run) { succeeded(r).lostLate(2301, 110, 1) }, verdict.Holds},
		{"it was told late all the same", func(r *run) { succeeded(r).lostLate(2301, 90, 1) }, verdict.Violated},
	})
}
