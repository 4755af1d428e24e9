package checker

import (
	"testing"

	"github.com/zkverify/zkverify/histories"
)

func TestLossIsTold(t *testing.T) {
	answers(t, LossIsTold, []known{
		{"no session ends", func(r *run) { r.cycle(0, 1, 1, 1) }, NotExercised},
		{"a session ends when its holder has released", func(r *run) { r.cycle(0, 1, 1, 1).expired(5, 1) }, NotExercised},
		{"a session ends after the crash of its holder", func(r *run) { r.want(0, 1).got(1, 1, 1).crash(2, 1).expired(5, 1) }, NotExercised},
		{"told ahead of an expiry by silence", func(r *run) { r.want(0, 1).got(1, 1, 1).lost(4, 1).expired(5, 1) }, Holds},
		{"told after an expiry by silence", func(r *run) { r.want(0, 1).got(1, 1, 1).expired(5, 1).lost(6, 1) }, Violated},
		{"told within the bound of a forced expiry", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expire(5, 1).expired(6, 1).lost(55, 1)
		}, Holds},
		{"told after the bound of a forced expiry", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expire(5, 1).expired(6, 1).lost(56, 1)
		}, Violated},
		{"never told, and released long after", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expire(5, 1).expired(6, 1).release(90, 1).released(91, 1)
		}, Violated},
		{"never told, and the history goes on", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expired(5, 1).cycle(90, 91, 2, 2)
		}, Violated},
		{"not told, but released within the bound", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expire(5, 1).expired(6, 1).release(20, 1).released(21, 1)
		}, Holds},
		{"the history ends before the bound does", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expire(5, 1).expired(6, 1)
		}, NotExercised},
		{"granted on a session that had ended", func(r *run) {
			r.want(0, 1).expired(5, 1).got(6, 1, 1).release(9, 1).released(9, 1)
		}, Violated},
		{"a target that does not tell is not held to it", func(r *run) {
			r.h.Header.Promises.TellsLoss = false
			r.want(0, 1).got(1, 1, 1).expired(5, 1).cycle(90, 91, 2, 2)
		}, NotExercised},
	})
}

func TestProgress(t *testing.T) {
	chaos := func(r *run) *run {
		return r.phase(0, histories.PhaseChaos).cycle(1, 2, 1, 1).cycle(3, 4, 2, 2).phase(10, histories.PhaseRecovery)
	}
	answers(t, Progress, []known{
		{"no recovery phase", func(r *run) { r.cycle(0, 1, 1, 1) }, NotExercised},
		{"interrupted before recovery", func(r *run) { r.phase(0, histories.PhaseChaos).cycle(0, 1, 1, 1) }, Unknown},
		{"everybody gets the lock", func(r *run) { chaos(r).cycle(11, 12, 1, 3).cycle(13, 14, 2, 4).phase(20, histories.PhaseEnd) }, Holds},
		{"one never gets it", func(r *run) { chaos(r).cycle(11, 12, 1, 3).want(13, 2).phase(1500, histories.PhaseEnd) }, Violated},
		{"one gets it too late", func(r *run) {
			chaos(r).cycle(11, 12, 1, 3).cycle(1400, 1401, 2, 4).phase(1500, histories.PhaseEnd)
		}, Violated},
		{"one got it only before the recovery", func(r *run) { chaos(r).cycle(11, 12, 1, 3).phase(1500, histories.PhaseEnd) }, Violated},
		{"the acquire was under way when the recovery began", func(r *run) {
			r.phase(0, histories.PhaseChaos).want(1, 1).phase(10, histories.PhaseRecovery).got(11, 1, 1).phase(20, histories.PhaseEnd)
		}, Holds},
		{"a process that is gone needs no lock", func(r *run) {
			r.want(0, 3).answer(0, histories.Info, 3, histories.Acquire)
			chaos(r).cycle(11, 12, 1, 3).cycle(13, 14, 2, 4).phase(1500, histories.PhaseEnd)
		}, Holds},
		{"the run ends before the bound does", func(r *run) { chaos(r).cycle(11, 12, 1, 3).phase(20, histories.PhaseEnd) }, Unknown},
		{"interrupted in the recovery", func(r *run) { chaos(r).cycle(11, 12, 1, 3).cycle(13, 14, 2, 4) }, Unknown},
		{"one gets only one of two locks", func(r *run) {
			b := histories.Event{Lock: "b", Depth: 1}
			chaos(r).op(11, histories.Invoke, 1, histories.Acquire, b).op(12, histories.OK, 1, histories.Acquire, b).
				op(13, histories.Invoke, 1, histories.Release, b).op(14, histories.OK, 1, histories.Release, b).
				cycle(15, 16, 1, 3).cycle(17, 18, 2, 4).phase(1500, histories.PhaseEnd)
		}, Violated},
	})
}

func TestNoLeak(t *testing.T) {
	census := func(c histories.Census) func(*run) {
		return func(r *run) {
			r.phase(0, histories.PhaseChaos).cycle(1, 2, 1, 1).phase(3, histories.PhaseEnd).
				add(4, histories.Event{Type: histories.CensusDone, Process: -1, Census: &c})
		}
	}
	answers(t, NoLeak, []known{
		{"nothing is left", census(histories.Census{}), Holds},
		{"a node is left", census(histories.Census{Contenders: []string{"/locks/a/x"}}), Violated},
		{"a watch is left", census(histories.Census{Watches: 1}), Violated},
		{"a goroutine is left", census(histories.Census{Goroutines: []string{"goroutine 7 [chan receive]:\nx"}}), Violated},
		{"nobody counted", func(r *run) { r.cycle(1, 2, 1, 1).phase(3, histories.PhaseEnd) }, NotExercised},
		{"interrupted", func(r *run) { r.phase(0, histories.PhaseChaos).cycle(1, 2, 1, 1) }, Unknown},
	})
}
