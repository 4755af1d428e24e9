package checker

import (
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// refused is a try that is refused.
func (r *run) refused(from, to, p int) *run {
	return r.op(from, histories.Invoke, p, histories.TryAcquire, histories.Event{}).
		op(to, histories.Fail, p, histories.TryAcquire, histories.Event{Refused: true})
}

// named makes the latest event, and the answer to it, name the session of a process.
func (r *run) named(p int) *run {
	last := len(r.h.Events) - 1
	for i := last; i >= 0; i-- {
		if e := &r.h.Events[i]; e.Process == r.h.Events[last].Process && e.Op == r.h.Events[last].Op {
			e.Session = session(p)
		}
	}
	return r
}

// recovers adds a recovery in which each of the processes gets the lock.
func (r *run) recovers(ms int, processes ...int) *run {
	r.phase(ms, histories.PhaseRecovery)
	for i, p := range processes {
		r.cycle(ms+2*i+1, ms+2*i+2, p, 1000+i)
	}
	return r.phase(ms+2*len(processes)+3, histories.PhaseEnd)
}

func TestATryOfAFreeLockSucceeds(t *testing.T) {
	closes := func(r *run, p, from, to int) *run {
		return r.add(from, histories.Event{Type: histories.Closing, Process: p}).add(to, histories.Event{Type: histories.Closed, Process: p})
	}
	answers(t, Progress, []known{
		{"a try is refused after the release has returned", func(r *run) { r.cycle(0, 2, 1, 1).refused(3, 4, 2).recovers(9000, 1, 2) }, verdict.Violated},
		{"a try is refused after a release under which the session may have ended", func(r *run) {
			// A deposed leader reports the session as ended, and the next leader keeps the node.
			r.cycle(0, 2, 1, 1).refused(3, 4, 2).expired(2000, 1).crash(2001, 1).recovers(9000, 2)
		}, verdict.Holds},
		{"a try is refused long after a release under which the session may have ended", func(r *run) {
			r.cycle(0, 2, 1, 1).expired(2000, 1).crash(2001, 1).refused(7000, 7001, 2).recovers(9000, 2)
		}, verdict.Violated},
		{"a try is refused for what it left in the session that it began in", func(r *run) {
			r.cycle(0, 2, 1, 1).op(3, histories.Invoke, 2, histories.TryAcquire, histories.Event{Session: session(2)})
			r.op(4, histories.Fail, 2, histories.TryAcquire, histories.Event{Session: "s9", Refused: true}).recovers(9000, 1, 2)
		}, verdict.Holds},
		{"a try is refused for what an acquire left in the session that it began in", func(r *run) {
			r.op(0, histories.Invoke, 1, histories.Acquire, histories.Event{Session: "s9"}).got(1, 1, 1).release(2, 1).released(3, 1)
			r.refused(4, 5, 2).recovers(9000, 1, 2)
		}, verdict.Holds},
		{"a try is refused while the release is under way", func(r *run) {
			r.want(0, 1).got(1, 1, 1).release(2, 1)
			r.op(3, histories.Invoke, 2, histories.TryAcquire, histories.Event{}).released(4, 1)
			r.op(5, histories.Fail, 2, histories.TryAcquire, histories.Event{Refused: true}).recovers(9000, 1, 2)
		}, verdict.Holds},
		{"a try is refused while another has the lock", func(r *run) {
			r.want(0, 1).got(1, 1, 1).refused(2, 3, 2).release(4, 1).released(5, 1).recovers(9000, 1, 2)
		}, verdict.Holds},
		{"a try is refused while another is waiting", func(r *run) {
			r.cycle(0, 2, 1, 1).want(3, 3).refused(4, 5, 2).got(6, 3, 3).release(7, 3).released(8, 3).recovers(9000, 1, 2, 3)
		}, verdict.Holds},
		{"a try is refused after another gave up", func(r *run) {
			r.want(0, 1).answer(1, histories.Fail, 1, histories.Acquire).refused(3, 4, 2).recovers(9000, 1, 2)
		}, verdict.Holds},
		{"a try is refused long after another gave up", func(r *run) {
			r.want(0, 1).answer(1, histories.Fail, 1, histories.Acquire).refused(7000, 7001, 2).recovers(9000, 1, 2)
		}, verdict.Violated},
		{"a try is refused soon after another gave up, and after a grant behind that", func(r *run) {
			r.promising().want(5000, 1).answer(5001, histories.Fail, 1, histories.Acquire).named(1).cycle(5300, 5302, 3, 3).refused(5303, 5304, 2).recovers(9000, 1, 2, 3)
		}, verdict.Violated},
		{"a try is refused soon after another gave up, and after a grant in the same session", func(r *run) {
			r.promising().want(5000, 1).answer(5001, histories.Fail, 1, histories.Acquire).named(3).cycle(5300, 5302, 3, 3).refused(5303, 5304, 2).recovers(9000, 1, 2, 3)
		}, verdict.Holds},
		{"a try is refused soon after another gave up, and after a grant that it may stand behind", func(r *run) {
			r.promising().want(5000, 1).answer(5200, histories.Fail, 1, histories.Acquire).named(1).cycle(5300, 5302, 3, 3).refused(5303, 5304, 2).recovers(9000, 1, 2, 3)
		}, verdict.Holds},
		{"a try is refused soon after another gave up under a fault, and after a grant", func(r *run) {
			r.promising().fault(5000, histories.FaultStart, "isolate", 1).want(5000, 1).answer(5001, histories.Fail, 1, histories.Acquire).named(1)
			r.fault(5200, histories.FaultStop, "isolate", 1).cycle(5300, 5302, 3, 3).refused(5303, 5304, 2).recovers(12000, 1, 2, 3)
		}, verdict.Holds},
		{"a try is refused soon after an acquire that changed its session was over, and after a grant behind that", func(r *run) {
			r.promising().op(5000, histories.Invoke, 1, histories.Acquire, histories.Event{Session: "s9"}).got(5001, 1, 1).release(5002, 1).released(5003, 1)
			r.cycle(5300, 5302, 3, 3).refused(5303, 5304, 2).recovers(9000, 1, 2, 3)
		}, verdict.Violated},
		{"a try is refused long after another gave up, and not long after its fault", func(r *run) {
			r.want(0, 1).fault(1, histories.FaultStart, "isolate", 1).answer(1, histories.Fail, 1, histories.Acquire).fault(5000, histories.FaultStop, "isolate", 1)
			r.refused(7000, 7001, 2).recovers(19000, 1, 2)
		}, verdict.Holds},
		{"a try is refused after another has crashed", func(r *run) {
			r.want(0, 1).got(1, 1, 1).crash(2, 1).refused(3, 4, 2).recovers(9000, 2)
		}, verdict.Holds},
		{"a try is refused after another's release without an answer", func(r *run) {
			r.want(0, 1).got(1, 1, 1).release(2, 1).answer(3, histories.Info, 1, histories.Release).refused(4, 5, 2).recovers(9000, 2)
		}, verdict.Holds},
		{"a try fails for another reason", func(r *run) {
			r.cycle(0, 2, 1, 1).op(3, histories.Invoke, 2, histories.TryAcquire, histories.Event{}).answer(4, histories.Fail, 2, histories.TryAcquire).recovers(9000, 1, 2)
		}, verdict.Holds},
		{"a try is refused after the holder's client was closed", func(r *run) {
			closes(r.want(0, 1).got(1, 1, 1), 1, 2, 3).refused(4, 5, 2).recovers(9000, 1, 2)
		}, verdict.Violated},
		{"a try is refused after the holder's client was closed under a fault", func(r *run) {
			r.want(0, 1).got(1, 1, 1).fault(1, histories.FaultStart, "isolate", 1)
			closes(r, 1, 2, 3).fault(3, histories.FaultStop, "isolate", 1).refused(4, 5, 2).recovers(19000, 1, 2)
		}, verdict.Holds},
	})
}

func TestATryOfAFreeSemaphoreSucceeds(t *testing.T) {
	refused := func(r *run, from, to, p, n int) *run {
		return r.op(from, histories.Invoke, p, histories.TryAcquire, histories.Event{Permits: n}).
			op(to, histories.Fail, p, histories.TryAcquire, histories.Event{Permits: n, Refused: true})
	}
	recovers := func(r *run) {
		r.phase(9000, histories.PhaseRecovery)
		r.permits(9001, 1, 1, 1000).back(9003, 1, 1, 1000).permits(9005, 2, 1, 1001).back(9007, 2, 1, 1001).phase(9009, histories.PhaseEnd)
	}
	cases := []known{
		{"all permits of a free semaphore are refused", func(r *run) {
			recovers(refused(r.permits(1, 1, 2, 1).back(3, 1, 2, 1), 5, 6, 2, 3))
		}, verdict.Violated},
		{"permits are refused of which another has some", func(r *run) {
			recovers(refused(r.permits(1, 1, 2, 1), 3, 4, 2, 3).back(5, 1, 2, 1))
		}, verdict.Holds},
		{"more permits are refused than there are", func(r *run) {
			recovers(refused(r.permits(1, 1, 2, 1).back(3, 1, 2, 1), 5, 6, 2, 4))
		}, verdict.Holds},
	}
	for i := range cases {
		cases[i].make = semaphore(histories.Semaphore, cases[i].make)
	}
	answers(t, Progress, cases)
}
