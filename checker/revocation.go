package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// revocationJudge: whoever holds a lease and is asked to release it hears of that in
// time, nobody else does, and nobody is forced.
//
//   - A request that was answered ok is told to the holder of its lease between
//     its invocation and the bound after its answer, or after the grant if that
//     came later. It need not be when the lease did not last so long. A request
//     that was not answered may be told or not. The lease of a request is one that
//     had been asked for, and was not over, when the request was invoked.
//   - What is told to a process is told of a lease that it has, and somebody has
//     asked for it by then. It may be told more often than it was asked for, and
//     several requests at once, and after the lease.
//   - A lease does not end by a request. Whether a lost link or a request has
//     ended it cannot be told when a fault was about; see forced.
//
// This needs no search: each request is judged by its own lease and its own
// window, and one delivery may serve any number of them, so that none depends on
// how another is explained.
//
// A request is kept until its lease is over and all that bears on it is known, and
// with it the leases and the tellings since it was invoked. Of what is over only
// the tokens are kept: of every lease, since its holder may be told of it ever
// after, and of every request.
type revocationJudge struct {
	v                              *Verdict
	asked, told, inTime, outlasted int
	slowest                        time.Duration
	requests                       []*op           // that may have taken effect and are not decided, by invocation
	tellings                       []releaseNotice // not decided, or since the oldest of those requests
	decided                        int             // how many of the tellings are decided
	acquires                       []*op           // that came to an end since the oldest operation still open was invoked
	leases                         map[leaseKey][]*hold
	losses                         []*hold           // of any lock
	suspects                       []*hold           // that a request seems to have ended, if their session lived on
	suspected                      map[*hold]bool    // while they are among the leases
	hadBefore, askedBefore         map[string]tokens // of lock: what is no more in acquires, and requests
}

func newRevocationJudge(_ *trace, v *Verdict) *revocationJudge {
	v.Expected = true
	return &revocationJudge{
		v: v, leases: map[leaseKey][]*hold{}, suspected: map[*hold]bool{},
		hadBefore: map[string]tokens{}, askedBefore: map[string]tokens{},
	}
}

func (j *revocationJudge) window(_ *engines, t *trace) {
	j.take(t)
	// What was invoked before this is answered, or will never be.
	known := forever
	if !t.last {
		known = t.end + 1
		oldest := t.oldest(func(o *op) bool { return o.acquires() || o.kind == histories.Revoke })
		for _, lock := range t.locksThat(is(histories.Revocation)) {
			known = min(known, oldest(lock))
		}
	}
	for ; j.decided < len(j.tellings) && j.tellings[j.decided].Time < known; j.decided++ {
		j.tell(t, j.tellings[j.decided])
	}
	since := known
	j.requests = slices.DeleteFunc(j.requests, func(o *op) bool {
		if !j.decide(t, o, known) {
			since = min(since, o.call)
			return false
		}
		j.askedBefore[o.lock] = j.askedBefore[o.lock].add(o.token, 0)
		return true
	})
	j.suspects = slices.DeleteFunc(j.suspects, func(h *hold) bool {
		if t.sessions.alive[h.session] <= h.end {
			_, ended := t.sessions.expired[h.session]
			return ended
		}
		// By now they have answered since, and it is known for how long they had not.
		if !t.quiet.within(h.end-t.header.SessionTimeout, h.end) {
			j.v.violate(func() Witness { return t.forcedOut(h) })
		}
		return true
	})
	j.forget(t, known, since)
}

// take takes in what came to an end in a window.
func (j *revocationJudge) take(t *trace) {
	for _, o := range t.ops {
		switch {
		case o.recipe() != histories.Revocation || !t.settled(o):
		case o.acquires():
			j.acquires = append(j.acquires, o)
		case o.kind == histories.Revoke && o.result != histories.Fail:
			j.asked++
			j.requests = append(j.requests, o)
		}
	}
	slices.SortFunc(j.requests, func(a, b *op) int { return a.invoke - b.invoke })
	for _, h := range t.holds {
		if t.begun(h) && t.recipe(h.lock) == histories.Revocation {
			k := leaseKey{h.lock, h.token}
			j.leases[k] = append(j.leases[k], h)
		}
		if t.over(h) && h.why == byLoss {
			j.losses = append(j.losses, h)
		}
	}
	j.told += len(t.notices)
	j.tellings = append(j.tellings, t.notices...)
}

// forget lets go of what cannot matter any more: what was invoked before known is
// settled, and no request that was invoked before since is undecided.
func (j *revocationJudge) forget(t *trace, known, since time.Duration) {
	past := 0
	for past < j.decided && j.tellings[past].Time < since {
		past++
	}
	j.tellings, j.decided = slices.Delete(j.tellings, 0, past), j.decided-past
	j.acquires = slices.DeleteFunc(j.acquires, func(o *op) bool {
		if o.ret >= known {
			return false
		}
		if o.ok() {
			j.hadBefore[o.lock] = j.hadBefore[o.lock].add(o.token, o.process)
		}
		return true
	})
	for k, holds := range j.leases {
		holds = slices.DeleteFunc(holds, func(h *hold) bool {
			if !t.over(h) || h.end >= since {
				return false
			}
			delete(j.suspected, h)
			return true
		})
		if j.leases[k] = holds; len(holds) == 0 {
			delete(j.leases, k)
		}
	}
	j.losses = slices.DeleteFunc(j.losses, func(h *hold) bool { return h.end < since-t.calm() })
}

func (j *revocationJudge) conclude(_ *engines, t *trace) {
	v := j.v
	v.Promised = t.header.Promises.RevokeBound > 0
	v.count("requests", j.asked)
	v.count("requests told in time", j.inTime)
	v.count("requests whose lease outlasted the bound", j.outlasted)
	v.count("times that a holder was told", j.told)
	v.Figures = append(v.Figures, Figure{"slowest delivery", float64(j.slowest) / 1e6, "ms"})
	if j.inTime == 0 && v.Violations == 0 {
		v.idle("no holder was asked to release and told so")
		return
	}
	v.conclude(fmt.Sprintf("%s, %d told in time, the other leases were over; nobody else was told, and nobody forced", words.Count(j.asked, "request"), j.inTime),
		fmt.Sprintf("a request did not reach the holder, reached somebody else, or ended a lease, %s", words.Times(v.Violations)))
}

// tell judges a telling.
func (j *revocationJudge) tell(t *trace, e releaseNotice) {
	if !j.had(e) {
		h, before, over := j.lease(e)
		j.v.violate(func() Witness { return t.toldAnother(e, h, before, over) })
	} else if !j.hasAsked(e.Lock, e.Token, e.Time) {
		j.v.violate(func() Witness { return t.toldUnasked(e) })
	}
}

// had reports whether the process that is told may have the lease, or have had
// it: by an acquire that it had invoked and that was granted this token, or that
// came to no end or to a bad one after that.
func (j *revocationJudge) had(e releaseNotice) bool {
	return j.hadBefore[e.Lock].has(e.Token, e.Process) || slices.ContainsFunc(j.acquires, func(o *op) bool {
		return o.process == e.Process && o.lock == e.Lock && o.call <= e.Time && (o.ok() && o.token == e.Token || !o.ok() && o.ret >= e.Time)
	})
}

// lease returns the lease that is told of, or the process that had it before.
func (j *revocationJudge) lease(e releaseNotice) (h *hold, before int, over bool) {
	for _, h := range j.leases[leaseKey{e.Lock, e.Token}] {
		if h.call <= e.Time && h.end >= e.Time {
			return h, 0, false
		}
	}
	before, over = j.hadBefore[e.Lock].first(e.Token)
	for _, o := range j.acquires {
		if o.ok() && o.lock == e.Lock && o.token == e.Token && o.call <= e.Time && (!over || o.process < before) {
			before, over = o.process, true
		}
	}
	return nil, before, over
}

// hasAsked reports whether somebody had asked for a lease by some time.
func (j *revocationJudge) hasAsked(lock string, token histories.Token, by time.Duration) bool {
	return j.askedBefore[lock].has(token, 0) || slices.ContainsFunc(j.requests, func(o *op) bool {
		return o.lock == lock && o.token == token && o.call <= by
	})
}

// decide judges a request if all that bears on it was invoked, or came to pass,
// before known.
func (j *revocationJudge) decide(t *trace, o *op, known time.Duration) bool {
	if o.call >= known {
		return false
	}
	bound := t.header.Promises.RevokeBound
	var leases []*hold
	for _, h := range j.leases[leaseKey{o.lock, o.token}] {
		if h.call > o.call || h.end < o.call {
			continue
		}
		if !t.over(h) || o.ok() && max(o.ret, h.start)+bound >= known || h.why == byLoss && h.end+t.calm() >= known {
			return false
		}
		leases = append(leases, h)
	}
	for _, h := range leases {
		if o.ok() {
			j.delivered(t, o, h, bound)
		}
		if h.why == byLoss && !j.suspected[h] && j.forced(t, o, h, bound) {
			j.suspected[h] = true
			j.suspects = append(j.suspects, h)
		}
	}
	return true
}

// delivered judges whether a holder was told of a request.
func (j *revocationJudge) delivered(t *trace, o *op, h *hold, bound time.Duration) {
	since := max(o.ret, h.start)
	when, ok := j.toldIn(h, o.call, since+bound)
	lasts := t.lasted(h) > since+bound
	if lasts {
		j.outlasted++
	}
	if ok {
		j.inTime++
		j.slowest = max(j.slowest, when-since)
	} else if lasts {
		late, wasLate := j.toldIn(h, since+bound, h.end)
		j.v.violate(func() Witness { return t.notTold(o, h, since+bound, late, wasLate) })
	}
}

// lasted returns how long the lease certainly lasted: as long as it was believed
// in, but no longer than until its session was ended from the side or its process
// was paused, nor, if the
// belief outlived the session, than the session is known to have lived.
func (t *trace) lasted(h *hold) time.Duration {
	end := min(h.end, t.end)
	for _, robbed := range t.faults.robbedIn(h.process, h.call, end) {
		end = min(end, max(robbed.from, h.call))
	}
	if paused := t.faults.pausedIn(h.process, h.call, end); len(paused) > 0 {
		end = min(end, max(paused[0].from, h.call)) // nobody can tell a process that does not run
	}
	if gone, ok := t.sessions.expired[h.session]; ok && gone < h.end {
		end = min(end, t.sessions.alive[h.session])
	}
	return end
}

// toldIn returns when the holder was first told in [from, to].
func (j *revocationJudge) toldIn(h *hold, from, to time.Duration) (time.Duration, bool) {
	for _, e := range j.tellings {
		if e.Process == h.process && e.Lock == h.lock && e.Token == h.token && e.Time >= from && e.Time <= to {
			return e.Time, true
		}
	}
	return 0, false
}

// forced reports whether a request seems to have ended a lease: it was lost within
// the bound of it, with nothing else to blame. No fault was about, neither since
// the request nor in the two session timeouts before it, and no lease that nobody
// had asked for was lost in that time, as happens when the machine stalls. It has,
// if the session lived on, and the servers were not quiet in the session timeout
// before.
func (j *revocationJudge) forced(t *trace, o *op, h *hold, bound time.Duration) bool {
	if o.ret < forever && h.end > max(o.ret, h.start)+bound {
		return false
	}
	from := o.call - t.calm()
	return !slices.ContainsFunc(t.faults.all, func(f *faultSpan) bool { return f.start <= h.end && f.stop >= from }) &&
		!slices.ContainsFunc(j.losses, func(x *hold) bool {
			return x.end >= from && x.end <= h.end+t.calm() && !j.hasAsked(x.lock, x.token, x.end)
		})
}
