package checker

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// allOrNothing: an acquire over several locks gets all of them or none, and
// acquires that name the same locks in opposite orders do not wait for each
// other.
//
// Each part of such an acquire is a hold of its own lock, from the answer of the
// acquire to the invocation of its release, and all of them begin and end there
// together; so mutual exclusion, fencing and progress judge it lock by lock.
// They even judge it exactly: where the holds of every lock are disjoint, the
// acquires take effect at their answers, and the releases at their invocations,
// each on all of its locks at once, and that is a legal order of the whole. It
// needs no search. A loss is told of each part; loss is told judges it. What is
// left:
//
//   - All: a grant has a token for every part, and none of its locks was held
//     by another when it returned.
//   - None: no place that an acquire took in the queue of one of its locks, and
//     which then failed, is ever granted. A place that is neither granted nor
//     given up holds up those behind it, which is for progress to see.
//   - No deadlock: of two acquires that wait at the same time, one is ahead in
//     the queues of all the locks that they share. Otherwise each would wait
//     until the other gives up.
func (c *check) allOrNothing(t *trace) Verdict {
	v := Verdict{Guarantee: AllOrNothing, Promised: true, Expected: true}
	groups := t.groups()
	granted, failed := 0, 0
	for _, g := range groups {
		switch g[0].result {
		case histories.OK:
			granted++
			if !t.header.Promises.Tokens {
				continue
			}
			if i := slices.IndexFunc(g, func(o *op) bool { return o.token == (histories.Token{}) }); i >= 0 {
				v.violate(func() Witness { return t.partWithoutToken(g, g[i]) })
			}
		case histories.Fail:
			failed++
		}
	}
	for _, lock := range t.locks {
		if t.recipe(lock) != histories.MultiLock {
			continue
		}
		n := 0
		sweep(piecesOf(t.byLock[lock]), differ, func(a, b piece) bool {
			// Of two that overlap, the second should not have been granted.
			if t.ofSeveral(b.hold.acquire) && b.from == b.hold.start {
				v.violate(func() Witness { return t.notAll(a.hold, b.hold) })
			}
			n++
			return n < maxPairs
		})
	}
	t.grantedAfterFailure(&v, groups)
	pairs := t.opposed(&v, groups)
	v.count("acquires of several locks that got them", granted)
	v.count("acquires of several locks that failed", failed)
	v.count("pairs that waited for the same locks", pairs)
	if granted == 0 && v.Violations == 0 {
		v.idle("nobody ever got several locks at once")
		return v
	}
	v.conclude(fmt.Sprintf("%s of several locks got all of them, %d got none", plural(granted, "acquire"), failed),
		"not all or nothing, "+plural(v.Violations, "time"))
	return v
}

// groups returns the acquires over several locks, each with all its parts, by
// invocation.
func (t *trace) groups() [][]*op {
	var out [][]*op
	for i, o := range t.ops {
		if o.part > 0 || !o.acquires() || !t.ofSeveral(o) {
			continue
		}
		out = append(out, t.ops[i:i+o.parts])
	}
	return out
}

// ofSeveral reports whether o is a part of an operation over several locks.
func (t *trace) ofSeveral(o *op) bool { return o.parts > 0 }

// grantedAfterFailure finds the holds whose place was taken by an acquire over
// several locks that failed.
func (t *trace) grantedAfterFailure(v *Verdict, groups [][]*op) {
	took := map[leaseKey]*op{}
	for _, g := range groups {
		for _, o := range g {
			for _, p := range o.places {
				if o.result == histories.Fail && p.token != (histories.Token{}) {
					took[leaseKey{o.lock, p.token}] = o
				}
			}
		}
	}
	for _, h := range t.holds {
		if o := took[leaseKey{h.lock, h.token}]; o != nil {
			v.violate(func() Witness { return t.keptPart(o, h) })
		}
	}
}

// opposed finds the acquires that were open at the same time and had places in
// opposite orders. It returns how many pairs of acquires it has compared.
func (t *trace) opposed(v *Verdict, groups [][]*op) int {
	var open [][]*op
	pairs := 0
	for _, g := range groups {
		open = slices.DeleteFunc(open, func(o []*op) bool { return o[0].ret <= g[0].call })
		for _, o := range open {
			// Where the one, and where the other, is ahead.
			var one, other *op
			shared := 0
			for _, a := range o {
				for _, b := range g {
					x, y := placeOf(o, a), placeOf(g, b)
					if a.lock != b.lock || x == nil || y == nil || max(x.time, y.time) > min(a.ret, b.ret) {
						continue
					}
					shared++
					if less(x.token, y.token) {
						one = a
					} else if less(y.token, x.token) {
						other = b
					}
				}
			}
			if shared > 1 {
				pairs++
			}
			if one != nil && other != nil {
				v.violate(func() Witness { return t.deadlock(one, other) })
			}
		}
		open = append(open, g)
	}
	return pairs
}

// placeOf returns the place that part o of g waited in at last, or nil. An
// acquire that goes on in another session takes new places; one whose new place
// in this queue is not on record, unlike that in another, says nothing of it.
func placeOf(g []*op, o *op) *place {
	n := 0
	for _, part := range g {
		n = max(n, len(part.places))
	}
	if n == 0 || len(o.places) < n {
		return nil
	}
	return &o.places[n-1]
}

func (t *trace) partWithoutToken(g []*op, part *op) Witness {
	p := g[0].party()
	w := t.newWitness(part.lock, part.call, part.ret, p)
	w.What = fmt.Sprintf("%v acquired %s at %s, without a token for lock %q", p, plural(len(g), "lock"), at(part.ret), part.lock)
	return w
}

func (t *trace) notAll(a, b *hold) Witness {
	p, q := b.party(), a.party()
	w := t.newWitness(b.lock, b.start, min(a.end, b.end), p, q)
	n := b.acquire.parts
	w.What = fmt.Sprintf("%v acquired %s at %s, and had not got all of them: %v held lock %q, since %s", p, plural(n, "lock"), at(b.start), q, b.lock, at(a.start))
	return w
}

func (t *trace) keptPart(o *op, h *hold) Witness {
	p, q := o.party(), h.party()
	w := t.newWitness(h.lock, o.call, h.start, p, q)
	w.What = fmt.Sprintf("%v failed at %s to acquire %s, but its place in the queue of lock %q, token %s, was granted to %v at %s", p, at(o.ret), plural(o.parts, "lock"), h.lock, token(h.token), q, at(h.start))
	return w
}

func (t *trace) deadlock(a, b *op) Witness {
	p, q := a.party(), b.party()
	w := t.newWitness(a.lock, max(a.call, b.call), min(a.ret, b.ret), p, q)
	w.What = fmt.Sprintf("%v and %v waited for each other: the one was ahead in the queue of lock %q, the other in that of lock %q", p, q, a.lock, b.lock)
	return w
}
