package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// revocation: whoever holds a lease and is asked to release it hears of that in
// time, nobody else does, and nobody is forced.
//
//   - A request that was answered ok is told to the holder of its lease between
//     its invocation and the bound after its answer, or after the grant if that
//     came later. It need not be when the lease did not last so long. A request
//     that was not answered may be told or not.
//   - What is told to a process is told of a lease that it has, and somebody has
//     asked for it by then. It may be told more often than it was asked for, and
//     several requests at once, and after the lease.
//   - A lease does not end by a request. Whether a lost link or a request has
//     ended it cannot be told when a fault was about; see forced.
//
// This needs no search: each request is judged by its own lease and its own
// window, and one delivery may serve any number of them, so that none depends on
// how another is explained.
func (c *check) revocation(t *trace) Verdict {
	bound := t.header.Promises.RevokeBound
	v := Verdict{Guarantee: Revocation, Promised: bound > 0, Expected: true}
	r := t.requests()
	told := 0
	for i := range t.events {
		if e := &t.events[i]; e.Type == histories.RevokeRequested {
			told++
			if !r.had(e) {
				v.violate(func() Witness { return t.toldAnother(r, i) })
			} else if !r.asked(e) {
				v.violate(func() Witness { return t.toldUnasked(i) })
			}
		}
	}
	inTime, outlasted := 0, 0
	var slowest time.Duration
	for _, o := range r.all {
		for _, h := range r.leases[leaseKey{o.lock, o.token}] {
			if !o.ok() {
				continue
			}
			since := max(o.ret, h.start)
			when, ok := r.toldIn(h, o.call, since+bound)
			lasts := r.lasted(t, h) > since+bound
			outlasted += b2i(lasts)
			if ok {
				inTime++
				slowest = max(slowest, when-since)
			} else if lasts {
				v.violate(func() Witness { return t.notTold(r, o, h, since+bound) })
			}
		}
	}
	for _, h := range r.forced(t, bound) {
		v.violate(func() Witness { return t.forcedOut(h) })
	}
	v.count("requests", len(r.all))
	v.count("requests told in time", inTime)
	v.count("requests whose lease outlasted the bound", outlasted)
	v.count("times that a holder was told", told)
	v.Figures = append(v.Figures, Figure{"slowest delivery", float64(slowest) / 1e6, "ms"})
	if inTime == 0 && v.Violations == 0 {
		v.idle("no holder was asked to release and told so")
		return v
	}
	v.conclude(fmt.Sprintf("%s, %d told in time, the other leases were over; nobody else was told, and nobody forced", plural(len(r.all), "request"), inTime),
		fmt.Sprintf("a request did not reach the holder, reached somebody else, or ended a lease, %s", plural(v.Violations, "time")))
	return v
}

type leaseKey struct {
	lock  string
	token histories.Token
}

// requests is what bears on revocation.
type requests struct {
	all      []*op // that may have taken effect, by invocation
	first    map[leaseKey]*op
	leases   map[leaseKey][]*hold
	acquires map[procKey][]*op
	told     map[leaseKey][]*histories.Event
	alive    map[string]time.Duration
}

func (t *trace) requests() *requests {
	r := &requests{
		nil, map[leaseKey]*op{}, map[leaseKey][]*hold{}, map[procKey][]*op{}, map[leaseKey][]*histories.Event{}, t.provenAlive(),
	}
	for _, o := range t.ops {
		switch {
		case o.of.recipe != histories.Revocation:
		case o.acquires():
			k := procKey{process: o.process, lock: o.lock}
			r.acquires[k] = append(r.acquires[k], o)
		case o.kind == histories.Revoke && o.result != histories.Fail:
			r.all = append(r.all, o)
			if k := (leaseKey{o.lock, o.token}); r.first[k] == nil {
				r.first[k] = o
			}
		}
	}
	for _, h := range t.holds {
		k := leaseKey{h.lock, h.token}
		r.leases[k] = append(r.leases[k], h)
	}
	for i := range t.events {
		if e := &t.events[i]; e.Type == histories.RevokeRequested {
			k := leaseKey{e.Lock, e.Token}
			r.told[k] = append(r.told[k], e)
		}
	}
	return r
}

// had reports whether the process that is told may have the lease, or have had
// it: by an acquire that it had invoked and that was granted this token, or that
// came to no end or to a bad one after that.
func (r *requests) had(e *histories.Event) bool {
	return slices.ContainsFunc(r.acquires[procKey{process: e.Process, lock: e.Lock}], func(o *op) bool {
		return o.call <= e.Time && (o.ok() && o.token == e.Token || !o.ok() && o.ret >= e.Time)
	})
}

// asked reports whether somebody had asked for the lease that is told of.
func (r *requests) asked(e *histories.Event) bool {
	o := r.first[leaseKey{e.Lock, e.Token}]
	return o != nil && o.call <= e.Time
}

// lasted returns how long the lease certainly lasted: as long as it was believed
// in, but no longer than until its session was ended from the side or its process
// was paused, nor, if the
// belief outlived the session, than the session is known to have lived.
func (r *requests) lasted(t *trace, h *hold) time.Duration {
	end := min(h.end, t.end)
	if forced := t.forcedIn(h.process, h.call, end); len(forced) > 0 {
		end = min(end, max(forced[0].from, h.call))
	}
	if paused := t.pausedIn(h.process, h.call, end); len(paused) > 0 {
		end = min(end, max(paused[0].from, h.call)) // nobody can tell a process that does not run
	}
	if gone, ok := t.expired[h.session]; ok && gone < h.end {
		end = min(end, r.alive[h.session])
	}
	return end
}

// toldIn returns when the holder was first told in [from, to].
func (r *requests) toldIn(h *hold, from, to time.Duration) (time.Duration, bool) {
	for _, e := range r.told[leaseKey{h.lock, h.token}] {
		if e.Process == h.process && e.Time >= from && e.Time <= to {
			return e.Time, true
		}
	}
	return 0, false
}

// forced returns the holds that a request has ended: they were lost within the
// bound of one, with nothing else to blame. No fault was about, neither since
// the request nor in the two session timeouts before it; the session lived on;
// and no lease that nobody had asked for was lost in that time, as happens when
// the machine stalls.
func (r *requests) forced(t *trace, bound time.Duration) []*hold {
	calm := 2 * t.header.SessionTimeout
	var out []*hold
	for _, o := range r.all {
		for _, h := range r.leases[leaseKey{o.lock, o.token}] {
			by := max(min(o.ret, t.end), h.start) + bound
			if h.why != byLoss || h.end < o.call || h.end > by || r.alive[h.session] <= h.end || slices.Contains(out, h) {
				continue
			}
			from := o.call - calm
			if slices.ContainsFunc(t.faults, func(f *faultSpan) bool { return f.start <= h.end && f.stop >= from }) ||
				slices.ContainsFunc(t.holds, func(x *hold) bool {
					return x.why == byLoss && x.end >= from && x.end <= h.end+calm && r.first[leaseKey{x.lock, x.token}] == nil
				}) {
				continue
			}
			out = append(out, h)
		}
	}
	return out
}
