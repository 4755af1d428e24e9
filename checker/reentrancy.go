package checker

import (
	"fmt"
	"sort"
	"strings"

	"github.com/zkverify/zkverify/histories"
)

// reentrancy: a re-entry goes one deeper than what its owner holds, and an
// inner release frees nothing: until the outermost release is invoked, no other
// owner's acquire returns. A lock that is not reentrant refuses its owner.
func (c *check) reentrancy(t *trace) Verdict {
	v := Verdict{Guarantee: Reentrancy, Promised: t.h.Header.Promises.Reentrant, Expected: true}
	entries, inner, refused := 0, 0, 0
	for _, h := range t.exclusiveHolds() {
		entries += len(h.reentries)
		inner += len(h.inner)
	}
	for _, o := range t.ops {
		if o.again == nil || t.recipe(o.lock) != histories.NonReentrant {
			continue
		}
		if o.ok() && o.again.end > o.call {
			v.violate(func() Witness { return t.letInAgain(o) })
		} else {
			refused++
		}
	}
	v.count("re-entries", entries)
	v.count("inner releases", inner)
	v.count("second acquires refused", refused)
	for _, odd := range t.oddDeep {
		if t.recipe(odd.op.lock).Exclusive() {
			v.violate(func() Witness { return t.wrongDepth(odd) })
		}
	}
	byLock := t.holdsByLock()
	for _, lock := range t.exclusive() {
		pieces := piecesOf(byLock[lock])
		n := 0
		sweep(pieces, func(a, b piece) bool {
			// Inner releases are in order of time: was one invoked before the
			// other owner's acquire returned?
			i := sort.Search(len(a.hold.inner), func(i int) bool { return a.hold.inner[i].time >= b.from })
			if i > 0 {
				v.violate(func() Witness { return t.freedByInner(a, b, a.hold.inner[i-1]) })
			}
			n++
			return n < maxPairs
		})
	}
	if entries == 0 && refused == 0 && v.Violations == 0 {
		v.idle("no owner acquired a lock that it held")
		return v
	}
	v.conclude("", "an owner's depth was not respected, "+plural(v.Violations, "time"))
	if v.Outcome == Holds {
		var parts []string
		if entries > 0 || refused == 0 {
			parts = append(parts, fmt.Sprintf("%d re-entries, %d inner releases, none freed the lock", entries, inner))
		}
		if refused > 0 {
			parts = append(parts, plural(refused, "second acquire")+" of locks that are not reentrant, all refused")
		}
		v.Reason = strings.Join(parts, "; ")
	}
	return v
}

func (t *trace) letInAgain(o *op) Witness {
	p := o.party()
	w := t.newWitness(o.lock, o.call, o.ret, o.again.party(), p)
	w.What = fmt.Sprintf("%v held lock %q, which is not reentrant, and acquired it again at %s", p, w.Lock, at(o.ret))
	return w
}

func (t *trace) wrongDepth(o oddDepth) Witness {
	p := o.op.party()
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
