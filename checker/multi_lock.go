package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// multiLockJudge: an acquire over several locks gets all of them or none, and
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
//     which then failed, is ever granted; see failedPlaces. A place that is
//     neither granted nor given up holds up those behind it, which is for
//     progress to see.
//   - No deadlock: of two acquires that wait at the same time, one is ahead in
//     the queues of all the locks that they share. Otherwise each would wait
//     until the other gives up.
//
// Two acquires wait at the same time only if the second was invoked before the
// first was answered. So those are kept that were answered since the oldest
// acquire still open was invoked.
type multiLockJudge struct {
	v                      *Verdict
	granted, failed, pairs int
	overlaps               map[string]int // of a lock, that were looked at
	places                 map[string]*failedPlaces
	groups                 []*group // that others are held against, by invocation
}

// group is an acquire over several locks, with all its parts.
type group struct {
	parts []*op
	seen  bool // in an earlier window
}

func newMultiLockJudge(_ *trace, v *Verdict) *multiLockJudge {
	v.Promised, v.Expected = true, true
	return &multiLockJudge{v: v, overlaps: map[string]int{}, places: map[string]*failedPlaces{}}
}

func (j *multiLockJudge) window(_ *engines, t *trace) {
	settled := t.groups()
	for _, g := range settled {
		switch g.parts[0].result {
		case histories.OK:
			j.granted++
			if i := slices.IndexFunc(g.parts, func(o *op) bool { return o.token == (histories.Token{}) }); i >= 0 && t.header.Promises.Tokens {
				j.v.violate(func() Witness { return t.partWithoutToken(g.parts, g.parts[i]) })
			}
		case histories.Fail:
			j.failed++
		}
	}
	oldest := t.oldest((*op).acquires)
	first := forever // of those that are still open
	for _, lock := range t.locksThat(is(histories.MultiLock)) {
		j.notAll(t, lock)
		places := j.places[lock]
		if places == nil {
			places = &failedPlaces{}
			j.places[lock] = places
		}
		places.window(j.v, t, lock, settled, min(oldest(lock), t.end))
		first = min(first, oldest(lock))
	}
	j.opposed(t, settled, first)
}

func (j *multiLockJudge) conclude(_ *engines, _ *trace) {
	v := j.v
	v.count("acquires of several locks that got them", j.granted)
	v.count("acquires of several locks that failed", j.failed)
	v.count("pairs that waited for the same locks", j.pairs)
	if j.granted == 0 && v.Violations == 0 {
		v.idle("nobody ever got several locks at once")
		return
	}
	v.conclude(fmt.Sprintf("%s of several locks got all of them, %d got none", words.Count(j.granted, "acquire"), j.failed),
		"not all or nothing, "+words.Times(v.Violations))
}

// notAll finds the grants of several locks of which another held one. As of a
// mutex, two holds that overlap are found in the window in which the first of
// them ends.
func (j *multiLockJudge) notAll(t *trace, lock string) {
	sweep(piecesOf(t.byLock[lock]), differ, func(a, b piece) bool {
		if !t.over(a.hold) && !t.over(b.hold) {
			return true // not yet
		}
		// Of two that overlap, the second should not have been granted.
		if t.ofSeveral(b.hold.acquire) && b.from == b.hold.start {
			j.v.violate(func() Witness { return t.notAll(a.hold, b.hold) })
		}
		j.overlaps[lock]++
		return j.overlaps[lock] < maxPairs
	})
}

// groups returns the acquires over several locks that are settled in this window,
// by invocation.
func (t *trace) groups() []*group {
	var out []*group
	for i, o := range t.ops {
		if o.part == 0 && o.acquires() && t.ofSeveral(o) && t.settled(o) {
			out = append(out, &group{parts: slices.Clone(t.ops[i : i+o.parts])})
		}
	}
	return out
}

// ofSeveral reports whether o is a part of an operation over several locks.
func (t *trace) ofSeveral(o *op) bool { return o.parts > 0 }

// opposed finds the acquires that were open at the same time and had places in
// opposite orders, and forgets those that no acquire still open, or to come, was
// open with. The first that is still open was invoked at first.
func (j *multiLockJudge) opposed(t *trace, settled []*group, first time.Duration) {
	j.groups = append(j.groups, settled...)
	slices.SortFunc(j.groups, func(a, b *group) int { return a.parts[0].invoke - b.parts[0].invoke })
	var open []*group
	for _, g := range j.groups {
		open = slices.DeleteFunc(open, func(o *group) bool { return o.parts[0].ret <= g.parts[0].call })
		for _, o := range open {
			if g.seen && o.seen {
				continue
			}
			one, other, shared := crossed(o.parts, g.parts)
			if shared > 1 {
				j.pairs++
			}
			if one != nil && other != nil {
				j.v.violate(func() Witness { return t.deadlock(one, other) })
			}
		}
		open = append(open, g)
	}
	first = min(first, t.end)
	j.groups = slices.DeleteFunc(j.groups, func(g *group) bool {
		g.seen = true
		return g.parts[0].ret < first
	})
}

// crossed returns a part of o that is ahead of g in its queue, a part of g that is
// ahead of o, and how many queues they both stood in at the same time.
func crossed(o, g []*op) (one, other *op, shared int) {
	for _, a := range o {
		for _, b := range g {
			x, y := placeOf(o, a), placeOf(g, b)
			if a.lock != b.lock || x == nil || y == nil || max(x.time, y.time) > min(a.ret, b.ret) {
				continue
			}
			shared++
			if x.token.Less(y.token) {
				one = a
			} else if y.token.Less(x.token) {
				other = b
			}
		}
	}
	return one, other, shared
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
	w.What = fmt.Sprintf("%v acquired %s at %s, without a token for lock %q", p, words.Count(len(g), "lock"), at(part.ret), part.lock)
	return w
}

func (t *trace) notAll(a, b *hold) Witness {
	p, q := b.party(), a.party()
	w := t.newWitness(b.lock, b.start, min(a.end, b.end), p, q)
	n := b.acquire.parts
	w.What = fmt.Sprintf("%v acquired %s at %s, and had not got all of them: %v held lock %q, since %s", p, words.Count(n, "lock"), at(b.start), q, b.lock, at(a.start))
	return w
}

func (t *trace) keptPart(o *op, h *hold) Witness {
	p, q := o.party(), h.party()
	w := t.newWitness(h.lock, o.call, h.start, p, q)
	w.What = fmt.Sprintf("%v failed at %s to acquire %s, but its place in the queue of lock %q, token %s, was granted to %v at %s", p, at(o.ret), words.Count(o.parts, "lock"), h.lock, token(h.token), q, at(h.start))
	return w
}

func (t *trace) deadlock(a, b *op) Witness {
	p, q := a.party(), b.party()
	w := t.newWitness(a.lock, max(a.call, b.call), min(a.ret, b.ret), p, q)
	w.What = fmt.Sprintf("%v and %v waited for each other: the one was ahead in the queue of lock %q, the other in that of lock %q", p, q, a.lock, b.lock)
	return w
}
