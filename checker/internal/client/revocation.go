package client

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// revocationJudge judges that the holder of a lease is told of each request to release it in
// time, that no other process is told, and that no request ends a lease.
//
//   - The holder of the lease is told of a request that was answered ok, between its
//     invocation and the bound after its answer, or after the grant if that came later.
//     The bound begins anew when the link of the holder's client has broken within it and
//     is up again. The holder need not be told if the lease did not last so long. It may
//     be told, or not, of a request that was not answered. The lease of a request is one
//     that had been asked for, and was not over, when the request was invoked.
//   - A process is told only of a lease that it has, or has had, and for which there was
//     a request by then. One notice may stand for several requests, and one request may be
//     told more than once, also after the lease.
//   - The holder need not be told of a request if its process was paused, or the
//     recording process stood still, shortly before it or before the bound had passed.
//   - A request does not end a lease. When a fault was in force, the record does not show
//     whether a lost link or a request ended it; see forced.
//
// This needs no search: each request is judged by its own lease and its own window, and one
// delivery may serve any number of requests, so the verdict on one does not depend on another.
//
// A request is kept until its lease is over and all relevant events are known, and with it the
// leases and the notices since it was invoked. Of the others only the tokens are kept: of every
// lease, since its holder may be told of it at any later time, and of every request.
type revocationJudge struct {
	v                              *verdict.Verdict
	asked, told, inTime, outlasted int
	slowest                        time.Duration
	requests                       []*facts.Op                      // that may have taken effect and are not decided, by invocation
	firstAsked                     map[facts.LeaseKey]time.Duration // the earliest of the requests, by lease
	notices                        []facts.ReleaseNotice            // not decided, or since the oldest of those requests
	decided                        int                              // how many of the notices are decided
	acquires                       []*facts.Op                      // that ended after the oldest open operation was invoked
	leases                         map[facts.LeaseKey][]*facts.Hold
	losses                         []*facts.Hold        // of any lock
	suspects                       []*facts.Hold        // that a request seems to have ended, if their session lived on
	suspected                      map[*facts.Hold]bool // while they are among the leases
	record                         *told                // of the window that is judged, as is unasked
	unasked                        *losses
	hadBefore, askedBefore         map[string]tokens               // by lock: the acquires and requests that are no longer kept
	putBack                        []facts.ReleaseNotice           // whose nodes' data must be put back
	under                          map[facts.LeaseKey][]facts.Span // when requests were under way, of any outcome
}

// NewRevocation returns the judge of requests to release.
func NewRevocation(_ *facts.Trace, v *verdict.Verdict) judge.Judge {
	return &revocationJudge{
		v: v, firstAsked: map[facts.LeaseKey]time.Duration{}, leases: map[facts.LeaseKey][]*facts.Hold{}, suspected: map[*facts.Hold]bool{}, under: map[facts.LeaseKey][]facts.Span{},
		hadBefore: map[string]tokens{}, askedBefore: map[string]tokens{},
	}
}

func (j *revocationJudge) Window(_ *judge.Engines, t *facts.Trace) int {
	j.take(t)
	j.record = newTold(j.notices, j.acquires)
	j.unasked = newLosses(j.losses, func(h *facts.Hold) bool { return j.hasAsked(h.Lock, h.Token, h.End) })
	// Operations invoked before this are answered, or never will be.
	known := facts.Forever
	if !t.Last {
		known = t.End + 1
		known = min(known, t.OldestOfAny(func(o *facts.Op) bool {
			return (o.Acquires() || o.Kind == histories.Revoke) && o.Recipe().Revocable()
		}))
	}
	for ; j.decided < len(j.notices) && j.notices[j.decided].Time < known; j.decided++ {
		j.tell(t, j.notices[j.decided])
	}
	since := known
	j.requests = slices.DeleteFunc(j.requests, func(o *facts.Op) bool {
		if !j.decide(t, o, known) {
			since = min(since, o.Call)
			return false
		}
		j.askedBefore[o.Lock] = j.askedBefore[o.Lock].add(o.Token, 0)
		j.unasked.asked(facts.LeaseKey{Lock: o.Lock, Token: o.Token})
		return true
	})
	j.suspects = slices.DeleteFunc(j.suspects, func(h *facts.Hold) bool {
		if t.Sessions.Alive[h.Session] <= h.End {
			_, ended := t.Sessions.Expired[h.Session]
			return ended
		}
		// The servers have answered since, so the quiet stretch before is known.
		if !t.Quiet.Within(h.End-t.Header.SessionTimeout, h.End) {
			j.v.Violate(func() verdict.Witness { return forcedOut(t, h) })
		}
		return true
	})
	j.record, j.unasked = nil, nil
	j.forget(t, known, since)
	return len(j.requests) + len(j.notices) + len(j.acquires) + len(j.leases) + len(j.losses) + len(j.suspects)
}

// take takes in the operations and holds that ended in a window.
func (j *revocationJudge) take(t *facts.Trace) {
	exact := t.Service != nil && t.Service.Exact()
	for _, o := range facts.Each(t, t.Ops) {
		if exact && o.Kind == histories.Revoke && t.Settled(o) {
			k := facts.LeaseKey{Lock: o.Lock, Token: o.Token}
			until := facts.Forever
			if o.OK() {
				until = o.Ret
			}
			j.under[k] = append(j.under[k], facts.Span{From: o.Call, To: until})
		}
		switch {
		case !o.Recipe().Revocable() || !t.Settled(o):
		case o.Acquires():
			j.acquires = append(j.acquires, o)
		case o.Kind == histories.Revoke && o.Result != histories.Fail:
			j.asked++
			j.requests = append(j.requests, o)
		}
	}
	slices.SortFunc(j.requests, func(a, b *facts.Op) int { return a.Invoke - b.Invoke })
	clear(j.firstAsked)
	for _, o := range slices.Backward(j.requests) {
		j.firstAsked[facts.LeaseKey{Lock: o.Lock, Token: o.Token}] = o.Call
	}
	for _, h := range facts.Each(t, t.Holds) {
		if t.Begun(h) && t.Recipe(h.Lock).Revocable() {
			k := facts.LeaseKey{Lock: h.Lock, Token: h.Token}
			j.leases[k] = append(j.leases[k], h)
		}
		if t.Over(h) && h.Why == facts.ByLoss {
			j.losses = append(j.losses, h)
		}
	}
	j.told += len(t.Notices)
	if exact {
		j.putBack = append(j.putBack, t.Notices...)
	}
	j.notices = append(j.notices, t.Notices...)
}

// forget drops the records that cannot matter any more: operations invoked before known are
// settled, and no request invoked before since is undecided.
func (j *revocationJudge) forget(t *facts.Trace, known, since time.Duration) {
	past := 0
	for past < j.decided && j.notices[past].Time < since {
		past++
	}
	j.notices, j.decided = slices.Delete(j.notices, 0, past), j.decided-past
	j.acquires = slices.DeleteFunc(j.acquires, func(o *facts.Op) bool {
		if o.Ret >= known {
			return false
		}
		if o.OK() {
			j.hadBefore[o.Lock] = j.hadBefore[o.Lock].add(o.Token, o.Process)
		}
		return true
	})
	for k, holds := range j.leases {
		holds = slices.DeleteFunc(holds, func(h *facts.Hold) bool {
			if !t.Over(h) || h.End >= since {
				return false
			}
			delete(j.suspected, h)
			return true
		})
		if j.leases[k] = holds; len(holds) == 0 {
			delete(j.leases, k)
		}
	}
	j.losses = slices.DeleteFunc(j.losses, func(h *facts.Hold) bool { return h.End < since-t.Calm() })
}

func (j *revocationJudge) Conclude(_ *judge.Engines, t *facts.Trace) {
	v := j.v
	v.Promised = t.Header.Promises.RevokeBound > 0
	v.Expected = slices.Contains(t.Recipes(), histories.Revocation) // not every election can ask its leader
	v.Count("requests", j.asked)
	v.Count("requests told in time", j.inTime)
	v.Count("requests whose lease outlasted the bound", j.outlasted)
	v.Count("times that a holder was told", j.told)
	v.Figures = append(v.Figures, verdict.Figure{Name: "slowest delivery", Value: float64(j.slowest) / 1e6, Unit: "ms"})
	j.notPutBack(t)
	j.toldTooOften(t)
	if j.inTime == 0 && v.Violations == 0 {
		v.Idle("no holder was asked to release and told so")
		return
	}
	v.Conclude(fmt.Sprintf("%s, %d told in time, the other leases were over; no other was told, none too often, and none forced", words.Count(j.asked, "request"), j.inTime),
		fmt.Sprintf("a request did not reach the holder, reached it too often or another process, or ended a lease, %s", words.Times(v.Violations)))
}

// tell judges a notice.
func (j *revocationJudge) tell(t *facts.Trace, e facts.ReleaseNotice) {
	if !j.had(e) {
		h, before, over := j.lease(e)
		j.v.Violate(func() verdict.Witness { return toldAnother(t, e, h, before, over) })
	} else if !j.hasAsked(e.Lock, e.Token, e.Time) {
		j.v.Violate(func() verdict.Witness { return toldUnasked(t, e) })
	}
}

// had reports whether the process that is told may have, or have had, the lease: it had invoked
// an acquire that was granted this token, or one that later failed or was never answered.
func (j *revocationJudge) had(e facts.ReleaseNotice) bool {
	return j.hadBefore[e.Lock].has(e.Token, e.Process) || j.record.had(e)
}

// lease returns the lease that a notice is about, or the process that had it before.
func (j *revocationJudge) lease(e facts.ReleaseNotice) (h *facts.Hold, before int, over bool) {
	for _, h := range j.leases[facts.LeaseKey{Lock: e.Lock, Token: e.Token}] {
		if h.Call <= e.Time && h.End >= e.Time {
			return h, 0, false
		}
	}
	before, over = j.hadBefore[e.Lock].first(e.Token)
	for _, o := range j.record.first[facts.LeaseKey{Lock: e.Lock, Token: e.Token}] {
		if o.Call <= e.Time && (!over || o.Process < before) {
			before, over = o.Process, true
		}
	}
	return nil, before, over
}

// hasAsked reports whether a process had asked for the release of a lease by some time.
func (j *revocationJudge) hasAsked(lock string, token histories.Token, by time.Duration) bool {
	first, asked := j.firstAsked[facts.LeaseKey{Lock: lock, Token: token}]
	return asked && first <= by || j.askedBefore[lock].has(token, 0)
}

// decide judges a request if all relevant events came before known, and reports whether it did.
func (j *revocationJudge) decide(t *facts.Trace, o *facts.Op, known time.Duration) bool {
	if o.Call >= known {
		return false
	}
	bound := t.Header.Promises.RevokeBound
	var leases []*facts.Hold
	for _, h := range j.leases[facts.LeaseKey{Lock: o.Lock, Token: o.Token}] {
		if h.Call > o.Call || h.End < o.Call {
			continue
		}
		if !t.Over(h) || o.OK() && max(o.Ret, h.Start)+bound >= known || h.Why == facts.ByLoss && h.End+t.Calm() >= known {
			return false
		}
		leases = append(leases, h)
	}
	for _, h := range leases {
		if o.OK() {
			j.delivered(t, o, h, bound)
		}
		if h.Why == facts.ByLoss && !j.suspected[h] && j.forced(t, o, h, bound) {
			j.suspected[h] = true
			j.suspects = append(j.suspects, h)
		}
	}
	return true
}

// delivered judges whether a holder was told of a request.
func (j *revocationJudge) delivered(t *facts.Trace, o *facts.Op, h *facts.Hold, bound time.Duration) {
	since := h.ReachableFrom(max(o.Ret, h.Start), bound)
	when, ok := j.record.in(h, o.Call, facts.After(since, bound))
	lasts := lasted(t, o, h) > facts.After(since, bound)
	if lasts {
		j.outlasted++
	}
	if ok {
		j.inTime++
		j.slowest = max(j.slowest, when-since)
	} else if lasts {
		late, wasLate := j.record.in(h, facts.After(since, bound), h.End)
		j.v.Violate(func() verdict.Witness { return notTold(t, o, h, facts.After(since, bound), late, wasLate) })
	}
}

// lasted returns until when the lease certainly lasted and its holder could be told of a
// request. That is the end of the belief, but not after its session was forced to expire, nor
// after its process was paused shortly before the request or later. If the belief outlived the
// session, it is the last time at which the session is known to have lived.
func lasted(t *facts.Trace, o *facts.Op, h *facts.Hold) time.Duration {
	end := min(h.End, t.End)
	for _, robbed := range t.Faults.RobbedIn(h.Process, h.Session, h.Call, end) {
		end = min(end, max(robbed.From, h.Call))
	}
	if paused := t.Faults.PausedIn(h.Process, max(h.Call, o.Call-t.Calm()), end); len(paused) > 0 {
		end = min(end, max(paused[0].From, h.Call)) // a process that does not run cannot be told
	}
	if gone, ok := t.Sessions.Expired[h.Session]; ok && gone < h.End {
		end = min(end, t.Sessions.Alive[h.Session])
	}
	return end
}

// forced reports whether a request seems to have ended a lease: the lease was lost within the
// bound after the request, without another cause. No fault was in force since the request or in
// the two session timeouts before it, and no lease without a request was lost in that time, as
// happens when the machine stalls. The request did end the lease if the session lived on, and
// the servers were not quiet in the session timeout before.
func (j *revocationJudge) forced(t *facts.Trace, o *facts.Op, h *facts.Hold, bound time.Duration) bool {
	if o.Ret < facts.Forever && h.End > max(o.Ret, h.Start)+bound {
		return false
	}
	from := o.Call - t.Calm()
	for range t.Faults.In(from, h.End) {
		return false
	}
	return !j.unasked.in(from, h.End+t.Calm())
}
