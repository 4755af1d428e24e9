package checker

import (
	"fmt"
	"strings"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// progressJudge: once every fault is healed, each process that is alive gets each
// lock within the bound, and does not try in vain while nobody else is about. And at
// any time who is first in a queue is granted the lock soon, see wakeUps, and a try of
// a free lock succeeds, see freeTries.
//
// A process that is retired during recovery is not judged: what it had under
// way when the faults were healed may still end in info, and the client goes on
// as another process, which is judged. That one, like any that first appears
// during recovery, has the bound from its first operation on.
type progressJudge struct {
	deaf
	v      *Verdict
	t      *trace
	recent *recentAcquires
	free   *freeTries
	wakes  *wakeUps
}

func newProgressJudge(t *trace, v *Verdict) *progressJudge {
	way := newInTheWay(t)
	j := &progressJudge{v: v, t: t, recent: &recentAcquires{t: t}, free: newFreeTries(t, way), wakes: newWakeUps(t, way)}
	t.listen(j)
	return j
}

func (j *progressJudge) event(_ int, e *histories.Event) { j.wakes.event(e) }

func (j *progressJudge) invoked(o *op) {
	j.free.invoked(o)
	j.wakes.invoked(o)
}

func (j *progressJudge) placed(o *op) { j.wakes.placed(o) }

func (j *progressJudge) completed(o *op) {
	j.free.completed(o)
	j.free.granted(o)
	j.wakes.completed(o)
}

func (j *progressJudge) window(*engines, *trace) { j.recent.keep() }

func (j *progressJudge) conclude(_ *engines, t *trace) {
	v := j.v
	bound := t.header.Promises.ProgressBound
	v.Promised, v.Expected = bound > 0, len(t.phases) > 0
	start, recovering := t.phases[histories.PhaseRecovery]
	ended, over := t.phases[histories.PhaseEnd]
	missed := j.judgeWakeUps()
	notWoken := fmt.Sprintf("%s first in a queue and not granted the lock within %s", words.Count(missed, "contender"), ms(j.wakes.bound))
	if !recovering {
		switch {
		case missed > 0:
			v.conclude("", notWoken)
		case len(t.phases) > 0 && !over:
			v.Outcome, v.Reason = Unknown, "the run was interrupted before its recovery phase"
		default:
			v.idle("the run has no recovery phase")
		}
		return
	}
	vain := j.recent.triesInVain(start)
	for _, w := range vain {
		v.violate(func() Witness { return w })
	}
	refused := j.free.wrong()
	for _, w := range refused {
		v.violate(w)
	}
	horizon := t.end
	if over {
		horizon = ended
	}
	r := j.judgeRecovery(start, horizon)
	holds := fmt.Sprintf("every client got every lock within %s of the end of the faults", ms(r.slowest))
	if j.wakes.judged > 0 {
		holds += fmt.Sprintf("; %s took %s at most", words.Count(j.wakes.judged, "wake-up"), ms(j.wakes.longest))
	}
	v.count("locks that were free and tried in vain", len(vain))
	v.count("tries of free locks that were refused", len(refused))
	var wrong []string
	if r.stuck > 0 {
		wrong = append(wrong, fmt.Sprintf("%d of %s had no acquire within %s of the end of the faults", r.stuck, words.Count(r.judged, "pair of client and lock"), ms(bound)))
	}
	if missed > 0 {
		wrong = append(wrong, notWoken)
	}
	if len(refused) > 0 {
		wrong = append(wrong, words.Count(len(refused), "try")+" refused although nobody held or wanted the lock")
	}
	if len(vain) > 0 {
		wrong = append(wrong, words.Count(len(vain), "pair of client and lock")+" tried in vain although nobody else held or wanted the lock")
	}
	v.conclude(holds, strings.Join(wrong, "; "))
	switch {
	case v.Violations > 0:
	case r.tooEarly > 0:
		v.Outcome, v.Reason = Unknown, fmt.Sprintf("the run ended before the bound of %s did, with %s still waiting", ms(bound), words.Count(r.tooEarly, "pair of client and lock"))
	case !over:
		v.Outcome, v.Reason = Unknown, "the run was interrupted in its recovery phase"
	case r.judged == 0:
		v.Outcome, v.Reason = Unknown, "no process was alive after the faults"
	}
}

// judgeWakeUps returns how many wake-ups were missed.
func (j *progressJudge) judgeWakeUps() int {
	missed := j.wakes.missed()
	for _, w := range missed {
		j.v.violate(w)
	}
	if j.wakes.bound > 0 {
		j.v.count("wake-ups judged", j.wakes.judged)
		j.v.Figures = append(j.v.Figures, Figure{"longest of them", float64(j.wakes.longest) / 1e6, "ms"})
		j.v.count("wake-ups missed", len(missed))
	}
	return len(missed)
}

// recovery is what came of the pairs of a process and a lock after the faults.
type recovery struct {
	judged, stuck int
	tooEarly      int           // the history ends before the bound does
	slowest       time.Duration // first acquire
}

// judgeRecovery judges the first acquire of each lock by each process after the faults
// were healed at start. What would have come after horizon is not on record.
func (j *progressJudge) judgeRecovery(start, horizon time.Duration) recovery {
	got := map[lockUse]time.Duration{}
	for _, o := range j.recent.all {
		if k := (lockUse{o.process, o.lock, o.mode}); o.progresses() && o.ok() && o.ret >= start {
			if at, seen := got[k]; !seen || o.ret < at {
				got[k] = o.ret
			}
		}
	}
	var r recovery
	all := j.wanted()
	for _, p := range j.t.procs {
		if p.gone() || p.began == forever {
			continue
		}
		first := max(start, p.began) // when its clock starts
		deadline := first + j.t.header.Promises.ProgressBound
		for _, wanted := range all {
			wanted.process = p.number
			when, ok := got[wanted]
			switch {
			case ok && when <= deadline:
				r.slowest = max(r.slowest, when-first)
			case !ok && horizon < deadline:
				r.tooEarly++
				continue
			default:
				r.stuck++
				j.v.violate(func() Witness { return j.stuck(wanted, first, deadline, when, ok) })
			}
			r.judged++
		}
	}
	j.v.count("processes × locks judged", r.judged)
	j.v.Figures = append(j.v.Figures, Figure{"slowest first acquire in recovery", float64(r.slowest) / 1e6, "ms"})
	return r
}

// wanted returns what every process must get: each lock, a read/write lock in
// both modes.
func (j *progressJudge) wanted() []lockUse {
	var out []lockUse
	for _, lock := range j.t.locks {
		if j.t.header.RecipeOf(lock) == histories.ReadWrite {
			out = append(out, lockUse{lock: lock, mode: histories.ModeRead}, lockUse{lock: lock, mode: histories.ModeWrite})
			continue
		}
		out = append(out, lockUse{lock: lock})
	}
	return out
}

func (j *progressJudge) stuck(wanted lockUse, from, deadline, when time.Duration, ok bool) Witness {
	p, lock := wanted.process, wanted.lock
	party := Party{Process: p, From: from, To: deadline, Event: -1}
	for _, o := range j.recent.all {
		if o.process == p && o.lock == lock && o.mode == wanted.mode && o.call <= deadline {
			party = o.party() // the last thing it tried
		}
	}
	w := j.t.newWitness(lock, from, min(deadline, j.t.end), party)
	what := fmt.Sprintf("get lock %q", lock)
	switch {
	case !j.t.header.RecipeOf(lock).IsLock():
		what = fmt.Sprintf("pass barrier %q", lock)
	case wanted.mode != "":
		what += fmt.Sprintf(" to %s", wanted.mode)
	}
	w.What = fmt.Sprintf("process %d did not %s between %s and %s, after the faults were healed", p, what, at(from), at(deadline))
	if ok {
		w.What += ", only at " + at(when)
	}
	return w
}
