package checker

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/internal/words"
)

// wokenLongest is the name of a figure.
const wokenLongest = "from the end of a pause to lost, longest"

// lossJudge: a holder whose session ends learns of it, not later than the moment
// an observer sees the session gone, since from then on others can be granted
// the lock; after a forced expiry, which gives no warning, not later than the
// loss bound; if its process was paused meanwhile, soon after it runs again.
//
// The observer sees the end late, which is lenient to the target. A belief that
// ended before, by release or crash, needed no word.
type lossJudge struct {
	v         *Verdict
	early     []*hold // that were told of a loss which the observer has not seen yet
	delays    []time.Duration
	woken     []time.Duration // of those whose process was paused: since it ran again
	cases     int
	undecided int
	deletions int // of nodes by which a lock was held then
}

func newLossJudge(_ *trace, v *Verdict) *lossJudge { return &lossJudge{v: v} }

func (j *lossJudge) window(_ *engines, t *trace) {
	for _, h := range t.holds {
		if t.over(h) {
			j.judgeDeletion(t, h)
		}
		if h.session == "" || !t.over(h) {
			continue
		}
		if gone, expired := t.sessions.expired[h.session]; expired {
			j.judge(t, h, gone)
		} else if h.why == byLoss {
			j.early = append(j.early, h)
		}
	}
	j.early = slices.DeleteFunc(j.early, func(h *hold) bool {
		gone, expired := t.sessions.expired[h.session]
		if expired {
			j.judge(t, h, gone)
		}
		return expired
	})
}

// judge judges a hold whose session ended.
func (j *lossJudge) judge(t *trace, h *hold, gone time.Duration) {
	forced := t.faults.forcedIn(h.process, h.call, gone)
	if h.why == byLoss && h.end < gone && len(forced) == 0 {
		// Told before the observer saw it: the good case of an expiry by silence.
		j.cases++
		j.delays = append(j.delays, h.end-gone)
		return
	}
	// A lease granted on a session that had been seen dead is lost from
	// its first moment on.
	ended := max(gone, h.start)
	deadline := ended
	if len(forced) > 0 {
		// The last of them: an earlier one would have ended an earlier
		// session, or this one at once.
		last := forced[len(forced)-1]
		ended = max(last.from, h.start)
		deadline = max(deadline, min(last.to, max(gone, last.from))+t.header.Promises.LossBound)
	}
	paused := false
	var woke time.Duration
	for _, x := range t.faults.pausedIn(h.process, h.call, gone) {
		if until := after(x.to, t.faults.wakeGrace); until >= ended {
			paused, woke, deadline = true, x.to, max(deadline, until)
		}
	}
	if h.end < ended || h.end <= gone && h.why != byLoss {
		return // nothing was held any more
	}
	if h.why == stillHeld && t.end <= deadline {
		j.undecided++ // the history ends before the bound does
		return
	}
	j.cases++
	switch {
	case h.why == byLoss && paused:
		j.woken = append(j.woken, max(h.end-woke, 0))
	case h.why == byLoss:
		j.delays = append(j.delays, h.end-ended)
	}
	if h.end > deadline {
		j.v.violate(func() Witness { return t.untold(h, ended, deadline) })
	}
}

// judgeDeletion judges a hold whose node was deleted from the side: its holder must be
// told within the loss bound, as after a forced expiry. Leases of permits may share a
// transaction, and so a token: a deletion that says of how many permits its lease was
// made sure that this one does not.
func (j *lossJudge) judgeDeletion(t *trace, h *hold) {
	for _, f := range t.faults.excusing(h.process, h.call, h.end) {
		if !f.deleted(h) || h.recipe().HasPermits() && f.Params["permits"] != strconv.Itoa(h.permits) || f.stop == forever || h.start > f.stop {
			continue
		}
		deadline := f.known(h, t.faults.lossBound)
		for _, x := range t.faults.pausedIn(h.process, h.call, h.end) {
			deadline = max(deadline, after(x.to, t.faults.wakeGrace))
		}
		if h.why == stillHeld && t.end <= deadline {
			j.undecided++
			return
		}
		j.deletions++
		if h.end > deadline {
			j.v.violate(func() Witness { return t.untoldDeletion(h, f, deadline) })
		}
		return
	}
}

func (t *trace) untoldDeletion(h *hold, f *faultSpan, deadline time.Duration) Witness {
	p := h.party()
	w := t.newWitness(h.lock, f.start, h.end, p)
	w.What = fmt.Sprintf("the node of %v was deleted from the side at %s while it held lock %q; it %s, and had to be by %s", p, at(f.start), h.lock, h.wasTold(), at(deadline))
	return w
}

func (j *lossJudge) conclude(_ *engines, t *trace) {
	v := j.v
	v.Promised, v.Expected = t.header.Promises.TellsLoss, len(t.faults.all) > 0
	v.count("sessions ended while holding", j.cases)
	if j.deletions > 0 {
		v.count("nodes deleted while holding", j.deletions)
	}
	v.count("undecided at the end of the history", j.undecided)
	if len(j.delays) > 0 {
		slices.Sort(j.delays)
		v.Figures = append(v.Figures,
			Figure{"told of the loss, median", float64(j.delays[len(j.delays)/2]) / 1e6, fromItsEnd},
			Figure{"told of the loss, latest", float64(j.delays[len(j.delays)-1]) / 1e6, fromItsEnd})
	}
	if len(j.woken) > 0 {
		v.Figures = append(v.Figures, Figure{wokenLongest, float64(slices.Max(j.woken)) / 1e6, "ms"})
	}
	if j.cases+j.deletions == 0 {
		v.idle("no session ended while its process held a lock")
		return
	}
	what, whose := words.Count(j.cases, "session")+" ended", "session ended"
	if j.deletions > 0 {
		what, whose = what+" and "+words.Count(j.deletions, "node")+" of locks were deleted", "session ended, or whose node was deleted,"
	}
	v.conclude(what+" while holding, each holder was told in time",
		fmt.Sprintf("%d of %s whose %s learned of it too late or never", v.Violations, words.Count(j.cases+j.deletions, "holder"), whose))
}

func (t *trace) untold(h *hold, ended, deadline time.Duration) Witness {
	p := h.party()
	w := t.newWitness(h.lock, ended, h.end, p)
	how := "ended at " + at(ended) + " (seen)"
	if len(w.SessionEnds) > 0 && w.SessionEnds[0].Forced {
		how = "had been ended from the side by " + at(w.SessionEnds[0].At)
	}
	w.What = fmt.Sprintf("the session of %v %s while it held lock %q; it %s, and had to be by %s", p, how, h.lock, h.wasTold(), at(deadline))
	return w
}

// wasTold says when a holder was told of its loss.
func (h *hold) wasTold() string {
	switch h.why {
	case byLoss:
		return "was told only at " + at(h.end)
	case byRelease:
		return "was not told before it released at " + at(h.end)
	case byCrashing:
		return "was not told before it crashed at " + at(h.end)
	}
	return "was never told"
}
