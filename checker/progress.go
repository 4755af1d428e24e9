package checker

import (
	"fmt"
	"strings"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// progress: once every fault is healed, each process that is alive gets each
// lock within the bound, and does not try in vain while nobody else is about. And at
// any time who is first in a queue is granted the lock soon, see wakeUps.
//
// A process that is retired during recovery is not judged: what it had under
// way when the faults were healed may still end in info, and the client goes on
// as another process, which is judged. That one, like any that first appears
// during recovery, has the bound from its first operation on.
func (c *check) progress(t *trace) Verdict {
	bound := t.header.Promises.ProgressBound
	v := Verdict{Guarantee: Progress, Promised: bound > 0, Expected: len(t.phases) > 0, all: c.all}
	start, recovering := t.phases[histories.PhaseRecovery]
	ended, over := t.phases[histories.PhaseEnd]
	missed := t.wakes.missed()
	for _, w := range missed {
		v.violate(w)
	}
	if t.wakes.bound > 0 {
		v.count("wake-ups judged", t.wakes.judged)
		v.Figures = append(v.Figures, Figure{"longest of them", float64(t.wakes.longest) / 1e6, "ms"})
		v.count("wake-ups missed", len(missed))
	}
	notWoken := fmt.Sprintf("%s first in a queue and not granted the lock within %s", words.Count(len(missed), "contender"), ms(t.wakes.bound))
	if !recovering && len(missed) > 0 {
		v.conclude("", notWoken)
		return v
	}
	if !recovering {
		v.idle("the run has no recovery phase")
		if len(t.phases) > 0 && !over {
			v.Outcome, v.Reason = Unknown, "the run was interrupted before its recovery phase"
		}
		return v
	}
	horizon := t.end
	if over {
		horizon = ended
	}

	got := map[procKey]time.Duration{}
	for _, o := range t.recent {
		if k := (procKey{o.process, o.lock, o.mode}); o.progresses() && o.ok() && o.ret >= start {
			if at, seen := got[k]; !seen || o.ret < at {
				got[k] = o.ret
			}
		}
	}
	vain := t.triesInVain(start)
	for _, w := range vain {
		v.violate(func() Witness { return w })
	}
	refused := t.free.wrong()
	for _, w := range refused {
		v.violate(w)
	}
	judged, stuck, tooEarly, all := 0, 0, 0, t.wanted()
	var slowest time.Duration
	for _, p := range t.procs {
		if p.gone() || p.began == forever {
			continue
		}
		first := max(start, p.began) // when its clock starts
		deadline := first + bound
		for _, wanted := range all {
			wanted.process = p.number
			when, ok := got[wanted]
			switch {
			case ok && when <= deadline:
				slowest = max(slowest, when-first)
			case !ok && horizon < deadline:
				tooEarly++ // the history ends before the bound does
				continue
			default:
				stuck++
				v.violate(func() Witness { return t.stuck(wanted, first, deadline, when, ok) })
			}
			judged++
		}
	}
	v.count("processes × locks judged", judged)
	v.Figures = append(v.Figures, Figure{"slowest first acquire in recovery", float64(slowest) / 1e6, "ms"})
	holds := fmt.Sprintf("every client got every lock within %s of the end of the faults", ms(slowest))
	if t.wakes.judged > 0 {
		holds += fmt.Sprintf("; %s took %s at most", words.Count(t.wakes.judged, "wake-up"), ms(t.wakes.longest))
	}
	v.count("locks that were free and tried in vain", len(vain))
	v.count("tries of free locks that were refused", len(refused))
	var wrong []string
	if stuck > 0 {
		wrong = append(wrong, fmt.Sprintf("%d of %s had no acquire within %s of the end of the faults", stuck, words.Count(judged, "pair of client and lock"), ms(bound)))
	}
	if len(missed) > 0 {
		wrong = append(wrong, notWoken)
	}
	if len(refused) > 0 {
		wrong = append(wrong, words.Count(len(refused), "try")+" refused although nobody held or wanted the lock")
	}
	if len(vain) > 0 {
		wrong = append(wrong, words.Count(len(vain), "pair of client and lock")+" tried in vain although nobody else held or wanted the lock")
	}
	v.conclude(holds, strings.Join(wrong, "; "))
	if v.Violations > 0 {
		return v
	}
	switch {
	case tooEarly > 0:
		v.Outcome, v.Reason = Unknown, fmt.Sprintf("the run ended before the bound of %s did, with %s still waiting", ms(bound), words.Count(tooEarly, "pair of client and lock"))
	case !over:
		v.Outcome, v.Reason = Unknown, "the run was interrupted in its recovery phase"
	case judged == 0:
		v.Outcome, v.Reason = Unknown, "no process was alive after the faults"
	}
	return v
}

// progresses reports whether o, answered ok, is what progress is made of: a
// lock acquired, or a barrier passed.
func (o *op) progresses() bool {
	return o.acquires() || o.kind == histories.Wait || o.kind == histories.Leave
}

// wanted returns what every process must get: each lock, a read/write lock in
// both modes.
func (t *trace) wanted() []procKey {
	var out []procKey
	for _, lock := range t.locks {
		if t.header.RecipeOf(lock) == histories.ReadWrite {
			out = append(out, procKey{lock: lock, mode: histories.ModeRead}, procKey{lock: lock, mode: histories.ModeWrite})
			continue
		}
		out = append(out, procKey{lock: lock})
	}
	return out
}

func (t *trace) stuck(wanted procKey, from, deadline, when time.Duration, ok bool) Witness {
	p, lock := wanted.process, wanted.lock
	party := Party{Process: p, From: from, To: deadline, Event: -1}
	for _, o := range t.recent {
		if o.process == p && o.lock == lock && o.mode == wanted.mode && o.call <= deadline {
			party = o.party() // the last thing it tried
		}
	}
	w := t.newWitness(lock, from, min(deadline, t.end), party)
	what := fmt.Sprintf("get lock %q", lock)
	switch {
	case !t.header.RecipeOf(lock).IsLock():
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
