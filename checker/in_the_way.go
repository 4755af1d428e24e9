package checker

import (
	"time"
)

// inTheWay says for how long an acquire may be in the way of others that ask for the
// same lock.
//
// Who failed, crashed, lost the lock, or was not answered may leave something behind
// that is in the way: a node that is deleted in the background, by a client that has
// to connect again first, or with its session. It may be there for a while after that,
// and after the faults that hit it.
type inTheWay struct {
	t     *trace
	bound time.Duration // within which who is first is granted a lock; 0: none is promised
}

func newInTheWay(t *trace) *inTheWay {
	w := &inTheWay{t: t, bound: t.header.Promises.TurnBound}
	if !t.header.Promises.FIFO {
		w.bound = 0
	}
	return w
}

// until returns until when an acquire may be in the way of others; forever if
// that is not known yet.
func (w *inTheWay) until(x *op) time.Duration {
	h := x.hold
	switch {
	case x.gone:
		return w.leaves(x, x.by.retired)
	case x.done < 0:
		return forever
	case !x.ok():
		return w.leaves(x, x.ret)
	case h == nil || h.acquire != x:
		return x.ret // a re-entry
	case h.endEvent < 0:
		return forever
	case h.released != forever && x.changedSession():
		return w.leaves(x, h.released)
	case h.released != forever:
		return h.released
	}
	return w.leaves(x, h.end)
}

// rests reports whether it is by a release that an acquire was in the way of others
// until some time.
func (w *inTheWay) rests(x *op, until time.Duration) bool {
	return x.hold != nil && x.hold.acquire == x && x.hold.released == until
}

// leaves returns until when what an acquire has left behind at some time may be
// there: until three session timeouts after that, and after every fault that hits
// its process till then.
func (w *inTheWay) leaves(x *op, from time.Duration) time.Duration {
	while := 3 * w.t.lifetime()
	until := after(from, while)
	for _, fault := range w.t.faults.all {
		if fault.start <= until && fault.stop >= x.call && fault.hits(x.process) {
			until = max(until, after(fault.stop, while))
		}
	}
	return until
}

// made returns the latest time at which an acquire that came to its end without a
// place may have been given one: a fault may have held up what it asked for.
func (w *inTheWay) made(x *op) time.Duration {
	latest := min(x.ret, x.by.retired)
	for _, s := range w.faultsOn(x.process, x.call, latest+w.bound/4, w.bound/2) {
		latest = max(latest, s.to)
	}
	return after(latest, w.bound/4)
}

// faultsOn returns the times in which faults hit a process, or servers, and a while
// after each, as far as they touch a stretch of time.
func (w *inTheWay) faultsOn(process int, from, to, while time.Duration) []span {
	var all []span
	for _, f := range w.t.faults.all {
		if s := (span{f.start, after(f.stop, while)}); s.from <= to && s.to >= from && (f.hits(process) || f.onServers()) {
			all = append(all, s)
		}
	}
	return all
}
