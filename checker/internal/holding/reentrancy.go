package holding

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// reentrancyJudge judges that a re-entry goes one deeper than its owner's hold, and that an
// inner release does not free the lock: until the outermost release is invoked, no other
// owner's acquire returns. If the outer hold had lost its node by then, because its session
// ended or a fault deleted the node, the inner release is not to blame. A lock that is not
// reentrant refuses its holder's second acquire, and every lock refuses a re-entry of a hold
// that was lost.
type reentrancyJudge struct {
	v                       *verdict.Verdict
	entries, inner, refused int
	afterLoss               int                // refused re-entries of a hold that was lost
	pairs                   facts.PerLock[int] // pairs checked, by lock
	early                   []earlyGrant       // not judged yet
}

// earlyGrant is a hold b that began while another owner's hold a lasted, after an inner release
// of a. It is judged once the end of a's session would have been seen.
type earlyGrant struct {
	a, b    facts.Piece
	release facts.InnerRelease
}

// NewReentrancy returns the judge of acquires by owners that hold the lock already.
func NewReentrancy(_ *facts.Trace, v *verdict.Verdict) judge.Judge {
	v.Expected = true
	return &reentrancyJudge{v: v}
}

func (j *reentrancyJudge) Window(e *judge.Engines, t *facts.Trace) int {
	v := j.v
	for _, h := range facts.Each(t, t.HoldsThat(histories.Recipe.Exclusive)) {
		if t.Over(h) {
			j.entries += len(h.Reentries())
			j.inner += len(h.Inner())
		}
	}
	for _, o := range facts.Each(t, t.Ops) {
		if o.Acquires() && o.Depth > 1 && o.Again == nil && t.Settled(o) && !o.OK() {
			j.afterLoss++
		}
		if o.Again == nil || !t.Settled(o) || !o.Recipe().RefusesOwner() {
			continue
		}
		if o.OK() && o.Again.End > o.Call {
			v.Violate(func() verdict.Witness { return letInAgain(t, o) })
		} else {
			j.refused++
		}
	}
	for _, odd := range t.OddDeep {
		if odd.Op.Recipe().Exclusive() {
			v.Violate(func() verdict.Witness { return wrongDepth(t, odd) })
		}
	}
	for lock := range t.LocksThat(histories.Recipe.Exclusive) {
		holds := lock.Holds()
		if !slices.ContainsFunc(holds, func(h *facts.Hold) bool { return len(h.Inner()) > 0 }) {
			continue
		}
		pairs := j.pairs.Make(lock, func() *int { return new(int) })
		sweep(t, facts.PiecesOf(holds), differ, t.Over, func(a, b facts.Piece) bool {
			// Inner releases are in order of time: was one invoked before the other
			// owner's acquire returned?
			i := sort.Search(len(a.Hold.Inner()), func(i int) bool { return a.Hold.Inner()[i].Time >= b.From })
			if i > 0 {
				j.early = append(j.early, earlyGrant{a, b, a.Hold.Inner()[i-1]})
			}
			*pairs++
			return *pairs < maxPairs
		})
	}
	j.early = slices.DeleteFunc(j.early, func(g earlyGrant) bool {
		if !t.Last && t.End <= facts.After(g.b.From, judge.LateSight) {
			return false
		}
		if !t.Robbed(g.a.Hold, g.b.From, judge.LateSight) {
			v.Violate(func() verdict.Witness { return freedByInner(t, g.a, g.b, g.release) })
		}
		return true
	})
	return len(j.early)
}

func (j *reentrancyJudge) Conclude(_ *judge.Engines, t *facts.Trace) {
	v := j.v
	v.Promised = t.Header.Promises.Reentrant
	v.Count("re-entries", j.entries)
	v.Count("inner releases", j.inner)
	v.Count("second acquires refused", j.refused)
	v.Count("re-entries of a lost hold refused", j.afterLoss)
	if j.entries == 0 && j.refused == 0 && v.Violations == 0 {
		v.Idle("no owner acquired a lock that it held")
		return
	}
	v.Conclude("", "an owner's depth was not respected, "+words.Times(v.Violations))
	if v.Outcome == verdict.Holds {
		var parts []string
		if j.entries > 0 || j.refused == 0 {
			parts = append(parts, fmt.Sprintf("%d re-entries, %d inner releases, none freed the lock", j.entries, j.inner))
		}
		if j.refused > 0 {
			parts = append(parts, words.Count(j.refused, "second acquire")+" of locks that are not reentrant, all refused")
		}
		v.Reason = strings.Join(parts, "; ")
	}
}

func letInAgain(t *facts.Trace, o *facts.Op) verdict.Witness {
	p := judge.OpParty(o)
	w := judge.NewWitness(t, o.Lock, o.Call, o.Ret, judge.HoldParty(o.Again), p)
	w.What = fmt.Sprintf("%v held lock %q, which is not reentrant, and acquired it again at %s", p, w.Lock, verdict.At(o.Ret))
	return w
}

func wrongDepth(t *facts.Trace, o facts.OddDepth) verdict.Witness {
	p := judge.OpParty(o.Op)
	if o.Lost != nil {
		w := judge.NewWitness(t, o.Op.Lock, o.Lost.End, o.Op.Ret, judge.HoldParty(o.Lost), p)
		w.What = fmt.Sprintf("%v had lost lock %q at %s, and was let in again at %s as if it still held it", judge.HoldParty(o.Lost), w.Lock, verdict.At(o.Lost.End), verdict.At(o.Op.Ret))
		return w
	}
	w := judge.NewWitness(t, o.Op.Lock, o.Op.Call, o.Op.Ret, p)
	w.What = fmt.Sprintf("%v acquired lock %q at %s to depth %d, but the depth above what its owner held is %d", p, w.Lock, verdict.At(o.Op.Ret), max(o.Op.Depth, 1), o.Want)
	return w
}

func freedByInner(t *facts.Trace, a, b facts.Piece, r facts.InnerRelease) verdict.Witness {
	p, q := judge.HoldParty(a.Hold), judge.HoldParty(b.Hold)
	w := judge.NewWitness(t, a.Hold.Lock, r.Time, min(a.To, b.To), p, q)
	w.What = fmt.Sprintf("the inner release of lock %q by %v at %s let %v in at %s, while the outer hold lasted", w.Lock, p, verdict.At(r.Time), q, verdict.At(b.From))
	return w
}
