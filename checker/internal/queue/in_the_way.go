package queue

import (
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
)

// inTheWay computes how long an acquire may be in the way of other acquires of the same lock.
//
// A process that failed, crashed, lost the lock, or was not answered may leave a node behind.
// The client deletes it in the background, perhaps after it has connected again, or the servers
// delete it when the session ends. So the node may stay for a while, also after the end of the
// faults that hit the process.
type inTheWay struct {
	t     *facts.Trace
	bound time.Duration // within which the first contender is granted a lock; 0: none is promised
}

func newInTheWay(t *facts.Trace) *inTheWay {
	w := &inTheWay{t: t, bound: t.Header.Promises.TurnBound}
	if !t.Header.Promises.FIFO {
		w.bound = 0
	}
	return w
}

// until returns the time until which an acquire may be in the way of others; forever if that is
// not known yet.
func (w *inTheWay) until(x *facts.Op) time.Duration {
	h := x.Hold
	switch {
	case x.Gone:
		return w.leaves(x, x.By.Retired)
	case x.Done < 0:
		return facts.Forever
	case !x.OK():
		return w.leaves(x, x.Ret)
	case h == nil || h.Acquire != x:
		return x.Ret // a re-entry
	case h.EndEvent < 0:
		return facts.Forever
	case h.Released != facts.Forever && x.ChangedSession():
		return w.leaves(x, h.Released)
	case h.Released != facts.Forever:
		return h.Released
	}
	return w.leaves(x, h.End)
}

// rests reports whether a release ended the time for which an acquire was in the way.
func (w *inTheWay) rests(x *facts.Op, until time.Duration) bool {
	return x.Hold != nil && x.Hold.Acquire == x && x.Hold.Released == until
}

// leaves returns the time until which a node that an acquire left behind at from may exist:
// three session timeouts later, and as long after every fault that hits its process until then.
func (w *inTheWay) leaves(x *facts.Op, from time.Duration) time.Duration {
	while := 3 * w.t.Lifetime()
	until := facts.After(from, while)
	for fault := range w.t.Faults.Reaching(x.Process, x.Call, facts.Forever) {
		if fault.Start > until {
			break
		}
		until = max(until, facts.After(fault.Stop, while))
	}
	return until
}

// made returns the latest time at which an acquire that ended without a place may have been
// given one: a fault may have delayed its request.
func (w *inTheWay) made(x *facts.Op) time.Duration {
	latest := answered(x)
	for _, s := range w.faultsOn(x.Process, x.Call, latest+w.bound/4, w.bound/2) {
		latest = max(latest, s.To)
	}
	return facts.After(latest, w.bound/4)
}

// answered returns when an acquire was answered, or its process retired.
func answered(x *facts.Op) time.Duration { return min(x.Ret, x.By.Retired) }

// faultsOn returns the times in which faults hit a process, or servers, each extended by while,
// that touch [from, to].
func (w *inTheWay) faultsOn(process int, from, to, while time.Duration) []facts.Span {
	var all []facts.Span
	for f := range w.t.Faults.ReachingOrOnServers(process, from-while, to) {
		all = append(all, facts.Span{From: f.Start, To: facts.After(f.Stop, while)})
	}
	return all
}
