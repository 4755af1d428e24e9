package client

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// WokenLongest is the name of a figure.
const WokenLongest = "from the end of a pause to lost, longest"

// lossJudge judges that a holder whose session ends is told of its loss before an observer sees
// that the session is gone, since another client can be granted the lock from then on. A forced
// expiry gives no warning: there the holder must be told within the loss bound. If its process
// was paused meanwhile, it must be told soon after the process runs again.
//
// The observer sees the end late, which is lenient to the target. The holder of a belief that
// ended before, by release or crash, need not be told.
type lossJudge struct {
	v         *verdict.Verdict
	early     []*facts.Hold // that were told of a loss which the observer has not seen yet
	deleted   []*facts.Hold // that ended while a fault was deleting their nodes
	delays    []time.Duration
	woken     []time.Duration // for holders whose process was paused: since it ran again
	cases     int
	undecided int
	deletions int // deletions of nodes by which a lock was held at that time

	lostForNothing int // holds that were told of a loss without a cause
}

// NewLossTold returns the judge of whether holders are told of their losses.
func NewLossTold(_ *facts.Trace, v *verdict.Verdict) judge.Judge { return &lossJudge{v: v} }

func (j *lossJudge) Window(_ *judge.Engines, t *facts.Trace) int {
	j.deleted = slices.DeleteFunc(j.deleted, func(h *facts.Hold) bool { return j.judgeDeletion(t, h) })
	for _, h := range facts.Each(t, t.Holds) {
		if t.Over(h) {
			j.needless(t, h)
		}
		if t.Over(h) && !j.judgeDeletion(t, h) {
			j.deleted = append(j.deleted, h)
		}
		if h.Session == "" || !t.Over(h) {
			continue
		}
		if gone, ended := endOf(t, h); ended {
			j.judge(t, h, gone)
		} else if h.Why == facts.ByLoss {
			j.early = append(j.early, h)
		}
	}
	j.early = slices.DeleteFunc(j.early, func(h *facts.Hold) bool {
		gone, ended := endOf(t, h)
		if ended {
			j.judge(t, h, gone)
		}
		return ended
	})
	return len(j.early) + len(j.deleted)
}

// endOf returns the time by which the session of a hold had ended: when the observer saw that,
// or when it should have seen it by the servers' log. The observer may still see the end of a
// session whose holder was told before; until then it is not decided.
func endOf(t *facts.Trace, h *facts.Hold) (gone time.Duration, ended bool) {
	gone, ended = t.Sessions.Expired[h.Session]
	if t.Service == nil || !ended && h.Why == facts.ByLoss && !t.Last {
		return gone, ended
	}
	if expired, known := t.Service.Expired(h.Session); known {
		if at := facts.After(expired, judge.LateSight); !ended || at < gone {
			return at, true
		}
	}
	return gone, ended
}

// judge judges a hold whose session ended.
func (j *lossJudge) judge(t *facts.Trace, h *facts.Hold, gone time.Duration) {
	forced := t.Faults.ForcedIn(h.Process, h.Session, h.Call, gone)
	if f := t.Faults.EndedSession(h.Session, h.Call); f != nil && len(forced) == 0 && t.Faults.HandedBlindly(h) {
		forced = []facts.Span{{From: f.Start, To: f.Stop}} // a client hands a lease on without asking the servers
	}
	if h.Why == facts.ByLoss && h.End < gone && len(forced) == 0 {
		// Told before the observer saw the end: the good case of an expiry by silence.
		j.cases++
		j.delays = append(j.delays, h.End-gone)
		return
	}
	// A lease granted in a session that had been seen to end is lost from the first moment.
	ended := max(gone, h.Start)
	deadline := ended
	if len(forced) > 0 {
		// The last of them: an earlier one would have ended an earlier session, or this one
		// at once.
		last := forced[len(forced)-1]
		ended = max(last.From, h.Start)
		deadline = max(deadline, min(last.To, max(gone, last.From))+t.Header.Promises.LossBound)
	}
	paused := false
	var woke time.Duration
	for _, x := range t.Faults.PausedIn(h.Process, h.Call, min(h.End, max(gone, deadline))) { // a pause after the hold delays nothing
		if until := facts.After(x.To, t.Faults.WakeGrace); until >= ended {
			paused, woke, deadline = true, x.To, max(deadline, until)
		}
	}
	if h.End < ended || h.End <= gone && h.Why != facts.ByLoss {
		return // the hold had ended
	}
	if h.Why == facts.StillHeld && t.End <= deadline {
		j.undecided++ // the history ends before the bound does
		return
	}
	j.cases++
	switch {
	case h.Why == facts.ByLoss && paused:
		j.woken = append(j.woken, max(h.End-woke, 0))
	case h.Why == facts.ByLoss:
		j.delays = append(j.delays, h.End-ended)
	}
	if h.End > deadline {
		j.v.Blame(verdict.NotTold)
		j.v.Violate(func() verdict.Witness { return untold(t, h, ended, deadline) })
	}
}

// judgeDeletion judges a hold whose node was deleted by an administrator: its holder must be
// told within the loss bound, as after a forced expiry. It returns false if the outcome is not
// known yet: the deletion may still be under way, and may fail.
func (j *lossJudge) judgeDeletion(t *facts.Trace, h *facts.Hold) bool {
	for _, f := range t.Faults.Excusing(h.Process, h.Session, h.Call, h.End) {
		if !f.Deleted(h) || ofAnother(f, h) || h.Start > f.Stop || f.Stop == facts.Forever && t.Last {
			continue
		}
		if f.Stop == facts.Forever {
			return false
		}
		deadline := f.Known(h, t.Faults.LossBound)
		for _, x := range t.Faults.PausedIn(h.Process, h.Call, h.End) {
			deadline = max(deadline, facts.After(x.To, t.Faults.WakeGrace))
		}
		if h.Why == facts.StillHeld && t.End <= deadline {
			j.undecided++
			return true
		}
		j.deletions++
		if h.End > deadline {
			j.v.Blame(verdict.NotTold)
			j.v.Violate(func() verdict.Witness { return untoldDeletion(t, h, f, deadline) })
		}
		return true
	}
	return true
}

// ofAnother reports whether a deletion, which names the zxid of h's token, may have hit the node
// of another lease with that zxid.
//
//   - Of a semaphore, one transaction may have created the nodes of several leases. The fault
//     states the number of permits only if the transaction created no other node. So a deletion
//     without that number, or with one that is not h's, may have hit another lease.
//   - Of a read/write lock, a writer and the reader that it was downgraded to have one zxid and a
//     node each. The deletion hit the node whose sub it states, 0 if it states none.
//   - Of any other lock, a zxid belongs to one lease.
func ofAnother(f *facts.Fault, h *facts.Hold) bool {
	switch {
	case h.Recipe().HasPermits():
		return f.Params["permits"] != strconv.Itoa(h.Permits)
	case h.Recipe() == histories.ReadWrite:
		return cmp.Or(f.Params["sub"], "0") != strconv.Itoa(int(h.Token.Sub))
	}
	return false
}

func untoldDeletion(t *facts.Trace, h *facts.Hold, f *facts.Fault, deadline time.Duration) verdict.Witness {
	p := judge.HoldParty(h)
	w := judge.NewWitness(t, h.Lock, f.Start, h.End, p)
	w.Untold = true
	w.What = fmt.Sprintf("the node of %v was deleted by an administrator at %s while it held lock %q; it %s, and had to be by %s", p, verdict.At(f.Start), h.Lock, wasTold(h), verdict.At(deadline))
	return w
}

func (j *lossJudge) Conclude(_ *judge.Engines, t *facts.Trace) {
	v := j.v
	v.Promised, v.Expected = t.Header.Promises.TellsLoss, len(t.Faults.All) > 0
	v.Count("sessions ended while holding", j.cases)
	if j.deletions > 0 {
		v.Count("nodes deleted while holding", j.deletions)
	}
	v.Count("undecided at the end of the history", j.undecided)
	if len(j.delays) > 0 {
		slices.Sort(j.delays)
		v.Figures = append(v.Figures,
			verdict.Figure{Name: "told of the loss, median", Value: float64(j.delays[len(j.delays)/2]) / 1e6, Unit: verdict.AfterSessionEnd},
			verdict.Figure{Name: "told of the loss, latest", Value: float64(j.delays[len(j.delays)-1]) / 1e6, Unit: verdict.AfterSessionEnd})
	}
	if len(j.woken) > 0 {
		v.Figures = append(v.Figures, verdict.Figure{Name: WokenLongest, Value: float64(slices.Max(j.woken)) / 1e6, Unit: "ms"})
	}
	if j.cases+j.deletions+j.lostForNothing == 0 {
		v.Idle("no session ended while its process held a lock")
		return
	}
	what, whose := words.Count(j.cases, "end")+" of sessions", "session ended"
	if j.deletions > 0 {
		what, whose = what+" and "+words.Count(j.deletions, "deletion")+" of nodes", "session ended, or whose node was deleted,"
	}
	var wrong []string
	if late := v.Violations - j.lostForNothing; late > 0 {
		wrong = append(wrong, fmt.Sprintf("%d of %s whose %s learned of it too late or never", late, words.Count(j.cases+j.deletions, "holder"), whose))
	}
	if j.lostForNothing > 0 {
		wrong = append(wrong, words.Count(j.lostForNothing, "holder")+" told of a loss that nothing had caused")
	}
	v.Conclude("of the "+what+" while holding that the record has, each holder was told in time", strings.Join(wrong, "; "))
}

func untold(t *facts.Trace, h *facts.Hold, ended, deadline time.Duration) verdict.Witness {
	p := judge.HoldParty(h)
	w := judge.NewWitness(t, h.Lock, ended, h.End, p)
	w.Untold = true
	how := "ended at " + verdict.At(ended) + " (seen)"
	if seen, ok := t.Sessions.Expired[h.Session]; !ok || seen > ended {
		how = "had expired by " + verdict.At(ended) + ", by the servers' log,"
	}
	if len(w.SessionEnds) > 0 && w.SessionEnds[0].Forced {
		how = "had been forced to expire by " + verdict.At(w.SessionEnds[0].At)
	}
	w.What = fmt.Sprintf("the session of %v %s while it held lock %q; it %s, and had to be by %s", p, how, h.Lock, wasTold(h), verdict.At(deadline))
	return w
}

// wasTold describes when a holder was told of its loss, as part of a sentence.
func wasTold(h *facts.Hold) string {
	switch h.Why {
	case facts.ByLoss:
		return "was told only at " + verdict.At(h.End)
	case facts.ByRelease:
		return "was not told before it released at " + verdict.At(h.End)
	case facts.ByCrashing:
		return "was not told before it crashed at " + verdict.At(h.End)
	}
	return "was never told"
}
