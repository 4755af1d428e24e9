package queue

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// progressJudge judges that, once every fault is healed, each process that is alive gets each
// lock within the bound, and that its try of a lock succeeds while no other process uses the
// lock. At any time the first contender in a queue is granted the lock soon (see wakeUps), and
// a try of a free lock succeeds (see freeTries).
//
// A process that is retired during recovery is not judged: an operation that was under way when
// the faults were healed may still end in info, and the client goes on as another process,
// which is judged. That process, like any that first appears during recovery, has the bound
// from its first operation on.
type progressJudge struct {
	facts.Deaf
	v      *verdict.Verdict
	t      *facts.Trace
	recent *recentAcquires
	free   *freeTries
	wakes  *wakeUps
	leaks  *leaks
	calls  *returns
	moves  *moves
}

// NewProgress returns the judge of whether locks are granted at all.
func NewProgress(t *facts.Trace, v *verdict.Verdict) judge.Judge {
	way := newInTheWay(t)
	j := &progressJudge{v: v, t: t, recent: &recentAcquires{t: t}, free: newFreeTries(t, way), wakes: newWakeUps(t, way), leaks: newLeaks(), calls: &returns{t: t}, moves: &moves{t: t}}
	t.Listen(j)
	return j
}

func (j *progressJudge) Event(_ int, e *histories.Event) {
	j.wakes.event(e)
	if e.Type == histories.Crash {
		for _, o := range j.t.Process(e.Process).Open {
			j.free.crashed(o)
			j.wakes.crashed(o)
			j.leaks.suspect(o)
		}
	}
}

func (j *progressJudge) Ended(h *facts.Hold) {
	j.free.ended(h)
	j.wakes.ended(h)
}

func (j *progressJudge) Invoked(o *facts.Op) {
	j.free.invoked(o)
	j.wakes.invoked(o)
}

func (j *progressJudge) Placed(o *facts.Op) { j.wakes.placed(o) }

func (j *progressJudge) Completed(o *facts.Op) {
	j.free.completed(o)
	j.wakes.completed(o)
	j.leaks.completed(o)
	j.calls.completed(o)
	j.moves.completed(o)
}

func (j *progressJudge) Window(*judge.Engines, *facts.Trace) int {
	j.recent.keep()
	return 0
}

func (j *progressJudge) Conclude(_ *judge.Engines, t *facts.Trace) {
	v := j.v
	bound := j.bound()
	v.Promised, v.Expected = bound > 0, len(t.Phases) > 0
	start, recovering := t.Phases[histories.PhaseRecovery]
	ended, over := t.Phases[histories.PhaseEnd]
	missed := j.judgeWakeUps()
	inChaos := slices.Concat(missedText(missed), j.calls.judge(v), j.moves.judge(v))
	if !recovering {
		switch {
		case len(inChaos) > 0:
			v.Conclude("", strings.Join(inChaos, "; "))
		case len(t.Phases) > 0 && !over:
			v.Outcome, v.Reason = verdict.Unknown, "the run was interrupted before its recovery phase"
		default:
			v.Idle("the run has no recovery phase")
		}
		return
	}
	vain := j.recent.triesInVain(start)
	for _, w := range vain {
		v.Violate(func() verdict.Witness { return w })
	}
	refused := j.free.wrong()
	for _, w := range refused {
		v.Violate(w)
	}
	horizon := t.End
	if over {
		horizon = ended
	}
	r := j.judgeRecovery(start, horizon, over)
	holds := fmt.Sprintf("every client got every lock within %s of the end of the faults", verdict.Ms(r.slowest))
	if j.wakes.judged > 0 {
		holds += fmt.Sprintf("; %s took %s at most", words.Count(j.wakes.judged, "wake-up"), verdict.Ms(j.wakes.longest))
	}
	v.Count("locks that were free and tried in vain", len(vain))
	v.Count("tries of free locks that were refused", len(refused))
	v.Conclude(holds, strings.Join(append(r.wrong(bound, len(refused), len(vain)), inChaos...), "; "))
	switch {
	case v.Violations > 0:
	case r.tooEarly > 0:
		v.Outcome, v.Reason = verdict.Unknown, fmt.Sprintf("the run ended before the bound of %s did, with %s still waiting", verdict.Ms(bound), words.Count(r.tooEarly, "pair of client and lock"))
	case !over:
		v.Outcome, v.Reason = verdict.Unknown, "the run was interrupted in its recovery phase"
	case r.judged == 0:
		v.Outcome, v.Reason = verdict.Unknown, "no process was alive after the faults"
	}
}

// judgeWakeUps returns the number of missed wake-ups.
func (j *progressJudge) judgeWakeUps() int {
	missed := j.wakes.missed()
	for _, w := range missed {
		j.v.Violate(w)
	}
	if j.wakes.bound > 0 {
		j.v.Count("wake-ups judged", j.wakes.judged)
		j.v.Figures = append(j.v.Figures, verdict.Figure{Name: "longest of them", Value: float64(j.wakes.longest) / 1e6, Unit: "ms"})
		j.v.Count("wake-ups missed", len(missed))
	}
	return len(missed)
}

// recovery is the result for all pairs of a process and a lock after the faults.
type recovery struct {
	judged   int
	stuck    []pair
	unasked  int            // of those, the pairs whose process never asked for the lock
	waits    []verdict.Wait // what the others wait for
	tooEarly int            // the history ends before the bound does
	slowest  time.Duration  // first acquire
}

// pair is a process and a lock that it did not get in time.
type pair struct {
	facts.LockUse
	from, deadline time.Duration
	late           time.Duration // when it got the lock after the deadline; 0 if never
}

// missedText describes missed wake-ups, if there are any.
func missedText(missed int) []string {
	if missed == 0 {
		return nil
	}
	return []string{words.Count(missed, "contender") + " first in a queue and not granted the lock in time"}
}

// wrong lists the violations, with the numbers of refused tries, and locks that were free and tried
// without success.
func (r recovery) wrong(bound time.Duration, refused, vain int) []string {
	var wrong []string
	if len(r.stuck) > 0 {
		text := fmt.Sprintf("%d of %s had no acquire within %s of the end of the faults", len(r.stuck), words.Count(r.judged, "pair of client and lock"), verdict.Ms(bound))
		if graph := verdict.Blocked(r.waits); graph != "" {
			text += ": " + graph
			if r.unasked > 0 {
				text += fmt.Sprintf("; no process has asked for the other %s", words.Count(r.unasked, "pair"))
			}
		}
		wrong = append(wrong, text)
	}
	if refused > 0 {
		wrong = append(wrong, words.Count(refused, "try")+" refused although no other process held or wanted the lock")
	}
	if vain > 0 {
		wrong = append(wrong, words.Count(vain, "pair of client and lock")+" tried without success although no other client held or wanted the lock")
	}
	return wrong
}

// judgeRecovery judges the first acquire of each lock by each process after the faults were
// healed at start. Events after horizon are not on record. A client that crashes after start
// and goes on as another process need not acquire again the locks that it acquired before.
//
// Even on a busy machine, the run has come to a standstill if no client gets a lock for twice
// the bound of an idle machine, until the run ends.
func (j *progressJudge) judgeRecovery(start, horizon time.Duration, over bool) recovery {
	got := map[facts.LockUse]time.Duration{}
	latest := start // the latest first acquire of any lock
	for _, o := range j.recent.all {
		if k := (facts.LockUse{Process: o.Process, Lock: o.Lock, Mode: o.Mode}); o.Progresses() && o.OK() && o.Ret >= start {
			if at, seen := got[k]; !seen || o.Ret < at {
				got[k] = o.Ret
				latest = max(latest, o.Ret)
			}
		}
	}
	standsStill := over && horizon-latest >= 2*j.t.Header.Promises.ProgressBound
	var r recovery
	all := j.wanted()
	for _, p := range j.t.Processes {
		if p.Gone() || p.Began == facts.Forever {
			continue
		}
		first := max(start, p.Began) // when its bound begins
		deadline := first + j.bound()
		for _, wanted := range all {
			wanted.Process = p.Number
			when, ok := got[wanted]
			if clients := j.t.Header.Clients; clients > 0 && p.Began > start {
				for before := wanted; !ok && before.Process >= clients; {
					before.Process -= clients
					when, ok = got[before]
				}
			}
			switch {
			case ok && when <= deadline:
				r.slowest = max(r.slowest, when-first)
			case !ok && horizon < deadline && !(standsStill && p.Began <= latest):
				r.tooEarly++
				continue
			default:
				r.stuck = append(r.stuck, pair{wanted, first, deadline, when})
			}
			r.judged++
		}
	}
	j.tell(&r, start, horizon)
	j.v.Count("processes × locks judged", r.judged)
	j.v.Figures = append(j.v.Figures, verdict.Figure{Name: "slowest first acquire in recovery", Value: float64(r.slowest) / 1e6, Unit: "ms"})
	return r
}

// bound returns the time that each process has after the faults, adapted to how busy the
// machine was.
func (j *progressJudge) bound() time.Duration {
	bound := j.t.Header.Promises.ProgressBound
	if c := j.t.Census; c != nil {
		return histories.Slowed(bound, c.Census.Write)
	}
	return bound
}

// wanted returns the locks that every process must get, a read/write lock in both modes.
func (j *progressJudge) wanted() []facts.LockUse {
	var out []facts.LockUse
	for lock := range j.t.LocksThat(facts.Every) {
		if lock.Recipe == histories.ReadWrite {
			out = append(out, facts.LockUse{Lock: lock.Lock, Mode: histories.ModeRead}, facts.LockUse{Lock: lock.Lock, Mode: histories.ModeWrite})
			continue
		}
		out = append(out, facts.LockUse{Lock: lock.Lock})
	}
	return out
}

// tell records the violations of a recovery: first those of the processes that wait for a lock.
func (j *progressJudge) tell(r *recovery, start, end time.Duration) {
	if len(r.stuck) == 0 {
		return
	}
	w := waitsIn(j.t, j.recent.all, j.leaks, start, end)
	r.waits = w.graph(r.stuck)
	all := map[string]int{} // waiters, by lock
	for _, x := range slices.Backward(r.waits) {
		all[x.Lock] = len(x.Waiters)
	}
	waiters := func(p pair) int {
		if _, waits := w.waiting[p.LockUse]; !waits {
			return 0
		}
		return all[p.Lock]
	}
	slices.SortStableFunc(r.stuck, func(a, b pair) int { return waiters(b) - waiters(a) })
	for _, p := range r.stuck {
		after := start
		if p.late == 0 && waiters(p) == 0 {
			r.unasked++
			after = end
		}
		j.v.ViolateFrom(after, func() verdict.Witness { return j.stuck(p, w, r.waits) })
	}
}

func (j *progressJudge) stuck(of pair, waits *waits, graph []verdict.Wait) verdict.Witness {
	p, lock := of.Process, of.Lock
	parties := []verdict.Party{{Process: p, Name: j.t.Header.Name(p), From: of.from, To: of.deadline, Event: -1}}
	for _, o := range j.recent.all {
		if o.Process == p && o.Lock == lock && o.Mode == of.Mode && o.Call <= of.deadline {
			parties[0] = judge.OpParty(o.Op) // its last attempt
		}
	}
	waiting, asked := waits.waiting[of.LockUse]
	mine := slices.IndexFunc(graph, func(x verdict.Wait) bool { // the lock for which it waits instead
		return slices.ContainsFunc(x.Waiters, func(y verdict.Waiter) bool { return y.Process == p })
	})
	if asked || mine >= 0 {
		waitsFor := lock
		if !asked {
			waitsFor = graph[mine].Lock
		}
		if blocker, _ := waits.inTheWay(j.t.Info(waitsFor)); blocker != nil && blocker.Process != p {
			parties = append(parties, *blocker)
		}
	}
	w := judge.NewWitness(j.t, lock, of.from, min(of.deadline, j.t.End), parties...)
	what := fmt.Sprintf("get lock %q", lock)
	switch {
	case !j.t.Header.RecipeOf(lock).IsLock():
		what = fmt.Sprintf("pass barrier %q", lock)
	case of.Mode != "":
		what += fmt.Sprintf(" to %s", of.Mode)
	}
	w.What = fmt.Sprintf("%s did not %s between %s and %s, after the faults were healed", j.t.Header.Name(p), what, verdict.At(of.from), verdict.At(of.deadline))
	switch {
	case of.late != 0:
		w.What += ", only at " + verdict.At(of.late)
	case asked:
		w.What += "; it has waited since " + verdict.At(waiting.since)
	default:
		w.What += "; it did not ask for it"
	}
	for i, x := range graph {
		if of.late == 0 && (asked && x.Lock == lock || !asked && i == mine) {
			w.Waits = append(w.Waits, x)
		}
	}
	return w
}
