package checker

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// reentrancyJudge: a re-entry goes one deeper than what its owner holds, and an
// inner release frees nothing: until the outermost release is invoked, no other
// owner's acquire returns. A lock that is not reentrant refuses its owner, and every
// lock refuses one that acquires again what it has lost.
type reentrancyJudge struct {
	v                       *Verdict
	entries, inner, refused int
	afterLoss               int            // refused, since what they were to re-enter was lost
	pairs                   map[string]int // of a lock, that were looked at
}

func newReentrancyJudge(_ *trace, v *Verdict) *reentrancyJudge {
	v.Expected = true
	return &reentrancyJudge{v: v, pairs: map[string]int{}}
}

func (j *reentrancyJudge) window(e *engines, t *trace) {
	v := j.v
	for _, h := range t.holdsThat(histories.Recipe.Exclusive) {
		if t.over(h) {
			j.entries += len(h.reentries)
			j.inner += len(h.inner)
		}
	}
	for _, o := range t.ops {
		if o.acquires() && o.depth > 1 && o.again == nil && t.settled(o) && !o.ok() {
			j.afterLoss++
		}
		if o.again == nil || !t.settled(o) || o.recipe() != histories.NonReentrant {
			continue
		}
		if o.ok() && o.again.end > o.call {
			v.violate(func() Witness { return t.letInAgain(o) })
		} else {
			j.refused++
		}
	}
	for _, odd := range t.oddDeep {
		if t.recipe(odd.op.lock).Exclusive() {
			v.violate(func() Witness { return t.wrongDepth(odd) })
		}
	}
	for _, lock := range t.locksThat(histories.Recipe.Exclusive) {
		holds := t.byLock[lock]
		if !slices.ContainsFunc(holds, func(h *hold) bool { return len(h.inner) > 0 }) {
			continue
		}
		sweep(piecesOf(holds), differ, func(a, b piece) bool {
			if !t.over(a.hold) && !t.over(b.hold) {
				return true // not yet
			}
			// Inner releases are in order of time: was one invoked before the
			// other owner's acquire returned?
			i := sort.Search(len(a.hold.inner), func(i int) bool { return a.hold.inner[i].time >= b.from })
			if i > 0 {
				r := a.hold.inner[i-1]
				v.violate(func() Witness { return t.freedByInner(a, b, r) })
			}
			j.pairs[lock]++
			return j.pairs[lock] < maxPairs
		})
	}
}

func (j *reentrancyJudge) conclude(_ *engines, t *trace) {
	v := j.v
	v.Promised = t.header.Promises.Reentrant
	v.count("re-entries", j.entries)
	v.count("inner releases", j.inner)
	v.count("second acquires refused", j.refused)
	v.count("re-entries of a lost hold refused", j.afterLoss)
	if j.entries == 0 && j.refused == 0 && v.Violations == 0 {
		v.idle("no owner acquired a lock that it held")
		return
	}
	v.conclude("", "an owner's depth was not respected, "+words.Times(v.Violations))
	if v.Outcome == Holds {
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

func (t *trace) letInAgain(o *op) Witness {
	p := o.party()
	w := t.newWitness(o.lock, o.call, o.ret, o.again.party(), p)
	w.What = fmt.Sprintf("%v held lock %q, which is not reentrant, and acquired it again at %s", p, w.Lock, at(o.ret))
	return w
}

func (t *trace) wrongDepth(o oddDepth) Witness {
	p := o.op.party()
	if o.lost != nil {
		w := t.newWitness(o.op.lock, o.lost.end, o.op.ret, o.lost.party(), p)
		w.What = fmt.Sprintf("%v had lost lock %q at %s, and was let in again at %s as if it still held it", o.lost.party(), w.Lock, at(o.lost.end), at(o.op.ret))
		return w
	}
	w := t.newWitness(o.op.lock, o.op.call, o.op.ret, p)
	w.What = fmt.Sprintf("%v acquired lock %q at %s to depth %d, but the depth above what its owner held is %d", p, w.Lock, at(o.op.ret), max(o.op.depth, 1), o.want)
	return w
}

func (t *trace) freedByInner(a, b piece, r innerRelease) Witness {
	p, q := a.hold.party(), b.hold.party()
	w := t.newWitness(a.hold.lock, r.time, min(a.to, b.to), p, q)
	w.What = fmt.Sprintf("the inner release of lock %q by %v at %s let %v in at %s, while the outer hold lasted", w.Lock, p, at(r.time), q, at(b.from))
	return w
}
