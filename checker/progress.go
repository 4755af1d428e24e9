package checker

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// progress: once every fault is healed, each process that is alive gets each
// lock within the bound, and does not try in vain while nobody else is about.
//
// A process that is retired during recovery is not judged: what it had under
// way when the faults were healed may still end in info, and the client goes on
// as another process, which is judged. That one, like any that first appears
// during recovery, has the bound from its first operation on.
func (c *check) progress(t *trace) Verdict {
	bound := t.h.Header.Promises.ProgressBound
	v := Verdict{Guarantee: Progress, Promised: bound > 0, Expected: len(t.phases) > 0}
	start, recovering := t.phases[histories.PhaseRecovery]
	ended, over := t.phases[histories.PhaseEnd]
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

	type key struct {
		process int
		lock    string
	}
	first := map[int]time.Duration{} // when the clock of a process starts
	got := map[key]time.Duration{}
	for _, o := range t.ops {
		if _, seen := first[o.process]; !seen {
			first[o.process] = max(start, o.call)
		}
		if k := (key{o.process, o.lock}); o.acquires() && o.ok() && o.ret >= start {
			if at, seen := got[k]; !seen || o.ret < at {
				got[k] = o.ret
			}
		}
	}
	vain := t.triesInVain(start)
	for _, w := range vain {
		v.violate(func() Witness { return w })
	}
	judged, tooEarly := 0, 0
	var slowest time.Duration
	for _, p := range t.procs {
		if _, gone := t.retired[p]; gone {
			continue
		}
		deadline := first[p] + bound
		for _, lock := range t.locks {
			when, ok := got[key{p, lock}]
			switch {
			case ok && when <= deadline:
				slowest = max(slowest, when-first[p])
			case !ok && horizon < deadline:
				tooEarly++ // the history ends before the bound does
				continue
			default:
				v.violate(func() Witness { return t.stuck(p, lock, first[p], deadline, when, ok) })
			}
			judged++
		}
	}
	v.count("processes × locks judged", judged)
	v.Figures = append(v.Figures, Figure{"slowest first acquire in recovery", float64(slowest) / 1e6, "ms"})
	v.conclude(fmt.Sprintf("every client got every lock within %s of the end of the faults", ms(slowest)), "")
	v.count("locks that were free and tried in vain", len(vain))
	if v.Violations > 0 && v.Violations == len(vain) {
		v.Reason = fmt.Sprintf("%s tried in vain although nobody else held or wanted the lock", plural(len(vain), "pair")+" of client and lock")
		return v
	}
	if v.Violations > 0 {
		v.Reason = fmt.Sprintf("%d of %d pairs of client and lock had no acquire within %s of the end of the faults", v.Violations-len(vain), judged, ms(bound))
		return v
	}
	switch {
	case tooEarly > 0:
		v.Outcome, v.Reason = Unknown, fmt.Sprintf("the run ended before the bound of %s did, with %d pairs of client and lock still waiting", ms(bound), tooEarly)
	case !over:
		v.Outcome, v.Reason = Unknown, "the run was interrupted in its recovery phase"
	case judged == 0:
		v.Outcome, v.Reason = Unknown, "no process was alive after the faults"
	}
	return v
}

func (t *trace) stuck(p int, lock string, from, deadline, when time.Duration, ok bool) Witness {
	party := Party{Process: p, From: from, To: deadline, Event: -1}
	for _, o := range t.ops {
		if o.process == p && o.lock == lock && o.call <= deadline {
			party = o.party() // the last thing it tried
		}
	}
	w := t.newWitness(lock, from, min(deadline, t.end), party)
	w.What = fmt.Sprintf("process %d did not get lock %q between %s and %s, after the faults were healed", p, lock, at(from), at(deadline))
	if ok {
		w.What += ", only at " + at(when)
	}
	return w
}
