package checker

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

func TestLossIsTold(t *testing.T) {
	answers(t, LossIsTold, []known{
		{"no session ends", func(r *run) { r.cycle(0, 1, 1, 1) }, verdict.NotExercised},
		{"a session ends when its holder has released", func(r *run) { r.cycle(0, 1, 1, 1).expired(5, 1) }, verdict.NotExercised},
		{"a session ends after the crash of its holder", func(r *run) { r.want(0, 1).got(1, 1, 1).crash(2, 1).expired(5, 1) }, verdict.NotExercised},
		{"told ahead of an expiry by silence", func(r *run) { r.want(0, 1).got(1, 1, 1).lost(4, 1).expired(5, 1) }, verdict.Holds},
		{"told after an expiry by silence", func(r *run) { r.want(0, 1).got(1, 1, 1).expired(5, 1).lost(6, 1) }, verdict.Violated},
		{"told within the bound of a forced expiry", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expire(5, 1).expired(6, 1).lost(55, 1)
		}, verdict.Holds},
		{"acquired while the expiry is being forced", func(r *run) {
			r.forcing(0, 1).want(1, 1).got(2, 1, 1).expired(5, 1).forced(6, 1).lost(50, 1)
		}, verdict.Holds},
		{"acquired while the expiry is being forced, and told too late", func(r *run) {
			r.forcing(0, 1).want(1, 1).got(2, 1, 1).expired(5, 1).forced(6, 1).lost(56, 1)
		}, verdict.Violated},
		{"acquired after the expiry was forced, and told late", func(r *run) {
			r.forcing(0, 1).forced(1, 1).want(2, 1).got(3, 1, 1).expired(5, 1).lost(50, 1)
		}, verdict.Violated},
		{"told after the bound of a forced expiry", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expire(5, 1).expired(6, 1).lost(56, 1)
		}, verdict.Violated},
		{"never told, and released long after", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expire(5, 1).expired(6, 1).release(90, 1).released(91, 1)
		}, verdict.Violated},
		{"never told, and the history goes on", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expired(5, 1).cycle(90, 91, 2, 2)
		}, verdict.Violated},
		{"not told, but released within the bound", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expire(5, 1).expired(6, 1).release(20, 1).released(21, 1)
		}, verdict.Holds},
		{"the history ends before the bound does", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expire(5, 1).expired(6, 1)
		}, verdict.NotExercised},
		{"granted on a session that had ended", func(r *run) {
			r.want(0, 1).expired(5, 1).got(6, 1, 1).release(9, 1).released(9, 1)
		}, verdict.Violated},
		{"a target that does not tell is not held to it", func(r *run) {
			r.h.Header.Promises.TellsLoss = false
			r.want(0, 1).got(1, 1, 1).expired(5, 1).cycle(90, 91, 2, 2)
		}, verdict.NotPromised},
	})
}

func TestProgress(t *testing.T) {
	chaos := func(r *run) *run {
		return r.phase(0, histories.PhaseChaos).cycle(1, 2, 1, 1).cycle(3, 4, 2, 2).phase(10, histories.PhaseRecovery)
	}
	writes := func(r *run, ms int, took time.Duration) { // half of the run's writes took that long
		r.phase(ms, histories.PhaseEnd).add(ms+1, histories.Event{Type: histories.CensusDone, Process: -1, Census: &histories.Census{Write: took}})
	}
	slow := func(r *run, ms int) { writes(r, ms, 20*time.Millisecond) }
	answers(t, Progress, []known{
		{"no recovery phase", func(r *run) { r.cycle(0, 1, 1, 1) }, verdict.NotExercised},
		{"interrupted before recovery", func(r *run) { r.phase(0, histories.PhaseChaos).cycle(0, 1, 1, 1) }, verdict.Unknown},
		{"everybody gets the lock", func(r *run) { chaos(r).cycle(11, 12, 1, 3).cycle(13, 14, 2, 4).phase(20, histories.PhaseEnd) }, verdict.Holds},
		{"one never gets it", func(r *run) { chaos(r).cycle(11, 12, 1, 3).want(13, 2).phase(1500, histories.PhaseEnd) }, verdict.Violated},
		{"one gets it too late", func(r *run) {
			chaos(r).cycle(11, 12, 1, 3).cycle(1400, 1401, 2, 4).phase(1500, histories.PhaseEnd)
		}, verdict.Violated},
		{"one gets it late on a machine half as fast as it should be", func(r *run) {
			slow(chaos(r).cycle(11, 12, 1, 3).cycle(1400, 1401, 2, 4), 1500)
		}, verdict.Holds},
		{"one gets it too late for such a machine, too", func(r *run) {
			slow(chaos(r).cycle(11, 12, 1, 3).cycle(2400, 2401, 2, 4), 2500)
		}, verdict.Violated},
		{"one never gets it on such a machine", func(r *run) { slow(chaos(r).cycle(11, 12, 1, 3).want(13, 2), 2500) }, verdict.Violated},
		{"one never gets it, and the others not any more, on a machine that is far too slow", func(r *run) {
			writes(chaos(r).cycle(11, 12, 1, 3).want(13, 2), 2500, time.Second)
		}, verdict.Violated},
		{"one does not get it, but another one does just before the end, on a machine that is far too slow", func(r *run) {
			writes(chaos(r).want(13, 2).cycle(2400, 2401, 1, 3), 2500, time.Second)
		}, verdict.Unknown},
		{"the run ends before the bound of such a machine does", func(r *run) { slow(chaos(r).cycle(11, 12, 1, 3).want(13, 2), 1500) }, verdict.Unknown},
		{"one got it only before the recovery", func(r *run) { chaos(r).cycle(11, 12, 1, 3).phase(1500, histories.PhaseEnd) }, verdict.Violated},
		{"the acquire was under way when the recovery began", func(r *run) {
			r.phase(0, histories.PhaseChaos).want(1, 1).phase(10, histories.PhaseRecovery).got(11, 1, 1).phase(20, histories.PhaseEnd)
		}, verdict.Holds},
		{"a process that is gone needs no lock", func(r *run) {
			r.want(0, 3).answer(0, histories.Info, 3, histories.Acquire)
			chaos(r).cycle(11, 12, 1, 3).cycle(13, 14, 2, 4).phase(1500, histories.PhaseEnd)
		}, verdict.Holds},
		{"a client got it, crashed, and goes on as another process", func(r *run) {
			r.h.Header.Clients = 2
			chaos(r).cycle(11, 12, 1, 3).cycle(13, 14, 2, 4).crash(15, 1).want(16, 3).answer(17, histories.Fail, 3, histories.Acquire).phase(1500, histories.PhaseEnd)
		}, verdict.Holds},
		{"another client got it, and this one crashed before it did", func(r *run) {
			r.h.Header.Clients = 2
			chaos(r).cycle(13, 14, 2, 4).crash(15, 1).want(16, 3).answer(17, histories.Fail, 3, histories.Acquire).phase(1500, histories.PhaseEnd)
		}, verdict.Violated},
		{"the run ends before the bound does", func(r *run) { chaos(r).cycle(11, 12, 1, 3).phase(20, histories.PhaseEnd) }, verdict.Unknown},
		{"interrupted in the recovery", func(r *run) { chaos(r).cycle(11, 12, 1, 3).cycle(13, 14, 2, 4) }, verdict.Unknown},
		{"one gets only one of two locks", func(r *run) {
			b := histories.Event{Lock: "b", Depth: 1}
			chaos(r).op(11, histories.Invoke, 1, histories.Acquire, b).op(12, histories.OK, 1, histories.Acquire, b).
				op(13, histories.Invoke, 1, histories.Release, b).op(14, histories.OK, 1, histories.Release, b).
				cycle(15, 16, 1, 3).cycle(17, 18, 2, 4).phase(1500, histories.PhaseEnd)
		}, verdict.Violated},
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
		{"nothing is left", census(histories.Census{}), verdict.Holds},
		{"a node is left", census(histories.Census{Contenders: []string{"/locks/a/x"}}), verdict.Violated},
		{"a watch is left", census(histories.Census{Watches: 1}), verdict.Violated},
		{"a goroutine is left", census(histories.Census{Goroutines: []string{"goroutine 7 [chan receive]:\nx"}}), verdict.Violated},
		{"idle clients have three goroutines each more than at first", census(histories.Census{Clients: 2, Kept: 6}), verdict.Holds},
		{"idle clients have more goroutines than that", census(histories.Census{Clients: 2, Kept: 7}), verdict.Violated},
		{"there was no count", func(r *run) { r.cycle(1, 2, 1, 1).phase(3, histories.PhaseEnd) }, verdict.NotExercised},
		{"interrupted", func(r *run) { r.phase(0, histories.PhaseChaos).cycle(1, 2, 1, 1) }, verdict.Unknown},
	})
}

func TestTriesInVain(t *testing.T) {
	// Process 1 tries lock "a" from time 100 on, every 100 ms, in recovery.
	tries := func(r *run, n int, then histories.Type) *run {
		for i := range n {
			at := 100 + 100*i
			r.op(at, histories.Invoke, 1, histories.TryAcquire, histories.Event{})
			e := histories.Event{}
			typ := histories.Fail
			if i == n-1 && then == histories.OK {
				typ, e = then, histories.Event{Token: tok(9), Depth: 1}
			}
			r.op(at+50, typ, 1, histories.TryAcquire, e)
		}
		return r
	}
	for _, c := range []struct {
		name string
		run  func(r *run)
		vain int
	}{
		{"a free lock is tried for longer than a session can live", func(r *run) { tries(r, 60, histories.Fail) }, 1},
		{"the last try succeeds", func(r *run) { tries(r, 60, histories.OK) }, 0},
		{"the tries are few", func(r *run) { tries(r, 5, histories.Fail) }, 0},
		{"another holds it all the time", func(r *run) { tries(r.cycle(10, 20, 2, 1).want(30, 2).got(40, 2, 2), 60, histories.Fail) }, 0},
		{"another held it before, and released it", func(r *run) { tries(r.cycle(10, 20, 2, 1), 60, histories.Fail) }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRun(t)
			r.h.Header.SessionTimeout = 1500 * time.Millisecond
			r.phase(0, histories.PhaseRecovery)
			c.run(r)
			r.phase(9000, histories.PhaseEnd)
			v := r.report().Verdict(Progress)
			if got, _ := v.Figure("locks that were free and tried in vain"); int(got) != c.vain {
				t.Errorf("%v in vain, want %d: %v", got, c.vain, v.Witnesses)
			}
			if in := v.Outcome == verdict.Violated; c.vain > 0 && !in {
				t.Error(v)
			}
		})
	}
}
