package holding

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// multiLockJudge judges that an acquire over several locks gets all of them or none, and that
// acquires that name the same locks in opposite orders do not wait for each other.
//
// Each part of such an acquire is a hold of its own lock, from the answer of the acquire to the
// invocation of its release, and all parts begin and end together. So mutual exclusion, fencing
// and progress judge it lock by lock. They judge it exactly: where the holds of every lock are
// disjoint, the acquires take effect at their answers, and the releases at their invocations,
// each on all of its locks at once, and that is a legal order of the whole. It needs no search.
// A loss is reported for each part, and the guarantee "loss is told" judges it. This judge
// checks the rest:
//
//   - All: a grant has a token for every part, and none of its locks was held
//     by another owner when it returned.
//   - None: no place in the queue of one of the locks is granted after its acquire
//     failed; see failedPlaces. A place that is neither granted nor given up blocks
//     the places behind it, which the judge of progress detects.
//   - No deadlock: of two acquires that wait at the same time, one is ahead in
//     the queues of all the locks that they share. Otherwise each would wait
//     until the other gives up. A lock whose places have no tokens is acquired when the others
//     are held, so it does not count.
//
// Two acquires wait at the same time only if the second was invoked before the first was
// answered. So the judge keeps the acquires that were answered after the oldest open acquire
// was invoked.
type multiLockJudge struct {
	v                      *verdict.Verdict
	granted, failed, pairs int
	compared               int // pairs that were open at the same time and share a lock
	locks                  facts.PerLock[multiLockOf]
	groups                 []*group // the acquires that later ones are compared with, by invocation
}

// multiLockOf is the judge's record of one lock.
type multiLockOf struct {
	overlaps int // the number of overlaps checked
	places   failedPlaces
}

// group is an acquire over several locks, with all its parts.
type group struct {
	parts []*facts.Op
	seen  bool // in an earlier window
}

// NewMultiLock returns the judge of acquires of several locks at once.
func NewMultiLock(_ *facts.Trace, v *verdict.Verdict) judge.Judge {
	v.Promised, v.Expected = true, true
	return &multiLockJudge{v: v}
}

func (j *multiLockJudge) Window(_ *judge.Engines, t *facts.Trace) (kept int) {
	settled := groups(t)
	for _, g := range settled {
		switch g.parts[0].Result {
		case histories.OK:
			j.granted++
			if i := slices.IndexFunc(g.parts, func(o *facts.Op) bool { return o.Token == (histories.Token{}) }); i >= 0 && t.Header.Promises.Tokens {
				j.v.Violate(func() verdict.Witness { return partWithoutToken(t, g.parts, g.parts[i]) })
			}
		case histories.Fail:
			j.failed++
		}
	}
	failed := failedOf(settled)
	oldest := t.Oldest((*facts.Op).Acquires)
	first := t.OldestOfAny(func(o *facts.Op) bool { return o.Acquires() && o.Recipe() == histories.MultiLock })
	for lock := range t.LocksThat(facts.Is(histories.MultiLock, histories.NonReentrant)) {
		of := j.locks.Make(lock, func() *multiLockOf { return &multiLockOf{} })
		j.notAll(t, lock, of)
		places := &of.places
		places.window(j.v, t, lock, failed[lock], min(oldest(lock), t.End))
		kept += len(places.recent) + len(places.failed)
	}
	j.opposed(t, settled, first)
	return kept + len(j.groups)
}

func (j *multiLockJudge) Conclude(_ *judge.Engines, _ *facts.Trace) {
	v := j.v
	v.Count("acquires of several locks that got them", j.granted)
	v.Count("acquires of several locks that failed", j.failed)
	v.Count("pairs that waited for the same locks", j.pairs)
	if j.granted == 0 && v.Violations == 0 {
		v.Idle("no client ever got several locks at once")
		return
	}
	v.Conclude(fmt.Sprintf("%s of several locks got all of them, %d got none", words.Count(j.granted, "acquire"), j.failed),
		"not all or nothing, "+words.Times(v.Violations))
}

// notAll finds the grants of several locks of which another holder had one. As for a mutex, two
// holds that overlap are found in the window in which the first of them ends.
func (j *multiLockJudge) notAll(t *facts.Trace, lock *facts.LockInfo, of *multiLockOf) {
	sweep(t, facts.PiecesOf(lock.Holds()), differ, t.Over, func(a, b facts.Piece) bool {
		// The second of two that overlap should not have been granted.
		if ofSeveral(t, b.Hold.Acquire) && b.From == b.Hold.Start {
			j.v.Violate(func() verdict.Witness { return notAll(t, a.Hold, b.Hold) })
		}
		of.overlaps++
		return of.overlaps < maxPairs
	})
}

// groups returns the acquires over several locks that are settled in this window, by
// invocation.
func groups(t *facts.Trace) []*group {
	var out []*group
	for i, o := range facts.Each(t, t.Ops) {
		if o.Part == 0 && o.Acquires() && ofSeveral(t, o) && t.Settled(o) {
			out = append(out, &group{parts: slices.Clone(t.Ops[i : i+o.Parts])})
		}
	}
	return out
}

// ofSeveral reports whether o is a part of an operation over several locks.
func ofSeveral(t *facts.Trace, o *facts.Op) bool { return o.Parts > 0 }

// opposed finds the acquires that were open at the same time and had places in opposite orders.
// It forgets those that ended before the first open acquire was invoked, at first. If one order is
// that of all queues, the pairs are only counted, and no more than maxPairs are visited.
func (j *multiLockJudge) opposed(t *facts.Trace, settled []*group, first time.Duration) {
	j.groups = append(j.groups, settled...)
	slices.SortFunc(j.groups, func(a, b *group) int { return a.parts[0].Invoke - b.parts[0].Invoke })
	open := map[*facts.LockInfo][]*group{}
	ordered := inOneOrder(j.groups)
	for _, g := range j.groups {
		if ordered && j.compared >= maxPairs {
			break
		}
		for _, o := range g.beside(open) {
			if g.seen && o.seen {
				continue
			}
			j.compared++
			one, other, shared := crossed(o.parts, g.parts)
			if shared > 1 {
				j.pairs++
			}
			if one != nil && other != nil {
				j.v.Violate(func() verdict.Witness { return deadlock(t, one, other) })
			}
		}
		for _, part := range g.parts {
			open[part.Info()] = append(open[part.Info()], g)
		}
	}
	first = min(first, t.End)
	j.groups = slices.DeleteFunc(j.groups, func(g *group) bool {
		g.seen = true
		return g.parts[0].Ret < first
	})
}

// inOneOrder reports whether the acquires, by their first places, are in the order of their places
// in the queue of every lock. Then no two have places in opposite orders.
func inOneOrder(all []*group) bool {
	first := make(map[*group]histories.Token, len(all))
	for _, g := range all {
		n := mostPlaces(g.parts)
		for _, o := range g.parts {
			if x := placeOf(n, o); x != nil && (first[g] == histories.Token{} || x.Token.Less(first[g])) {
				first[g] = x.Token
			}
		}
	}
	last := map[*facts.LockInfo]histories.Token{}
	for _, g := range slices.SortedStableFunc(slices.Values(all), func(a, b *group) int { return first[a].Compare(first[b]) }) {
		n := mostPlaces(g.parts)
		for _, o := range g.parts {
			if x := placeOf(n, o); x != nil {
				if x.Token.Less(last[o.Info()]) {
					return false
				}
				last[o.Info()] = x.Token
			}
		}
	}
	return true
}

// beside returns the acquires that were open when g was called and share a lock with g, by
// invocation. It removes from open those that had returned by then, for the locks of g.
func (g *group) beside(open map[*facts.LockInfo][]*group) []*group {
	var all []*group
	for _, part := range g.parts {
		of := slices.DeleteFunc(open[part.Info()], func(o *group) bool { return o.parts[0].Ret <= g.parts[0].Call })
		open[part.Info()] = of
		all = append(all, of...)
	}
	slices.SortFunc(all, func(a, b *group) int { return a.parts[0].Invoke - b.parts[0].Invoke })
	return slices.Compact(all)
}

// crossed returns a part of o that is ahead of g in its queue, a part of g that is ahead of o,
// and how many queues they both stood in at the same time.
func crossed(o, g []*facts.Op) (one, other *facts.Op, shared int) {
	of := make(map[*facts.LockInfo][]*facts.Op, len(g))
	for _, b := range g {
		of[b.Info()] = append(of[b.Info()], b)
	}
	placesOfO, placesOfG := mostPlaces(o), mostPlaces(g)
	for _, a := range o {
		for _, b := range of[a.Info()] {
			x, y := placeOf(placesOfO, a), placeOf(placesOfG, b)
			if x == nil || y == nil || max(x.Time, y.Time) > min(a.Ret, b.Ret) {
				continue
			}
			shared++
			if x.Token.Less(y.Token) {
				one = a
			} else if y.Token.Less(x.Token) {
				other = b
			}
		}
	}
	return one, other, shared
}

// mostPlaces returns the largest number of places with tokens that an acquire has reported for one
// queue.
func mostPlaces(g []*facts.Op) (n int) {
	for _, part := range g {
		if _, ordered := part.LastPlace(); ordered {
			n = max(n, len(part.Places))
		}
	}
	return n
}

// placeOf returns the last place of part o of an acquire with n places, or nil. An acquire that
// continues in another session takes new places. If the new place in this queue is not on
// record, while that in another queue is, the old place tells nothing.
func placeOf(n int, o *facts.Op) *facts.Place {
	if _, ordered := o.LastPlace(); !ordered || len(o.Places) < n {
		return nil
	}
	return &o.Places[n-1]
}

func partWithoutToken(t *facts.Trace, g []*facts.Op, part *facts.Op) verdict.Witness {
	p := judge.OpParty(g[0])
	w := judge.NewWitness(t, part.Lock, part.Call, part.Ret, p)
	w.What = fmt.Sprintf("%v acquired %s at %s, without a token for lock %q", p, words.Count(len(g), "lock"), verdict.At(part.Ret), part.Lock)
	return w
}

func notAll(t *facts.Trace, a, b *facts.Hold) verdict.Witness {
	p, q := judge.HoldParty(b), judge.HoldParty(a)
	w := judge.NewWitness(t, b.Lock, b.Start, min(a.End, b.End), p, q)
	n := b.Acquire.Parts
	w.What = fmt.Sprintf("%v acquired %s at %s, and had not got all of them: %v held lock %q, since %s", p, words.Count(n, "lock"), verdict.At(b.Start), q, b.Lock, verdict.At(a.Start))
	return w
}

func keptPart(t *facts.Trace, o *facts.Op, h *facts.Hold) verdict.Witness {
	p, q := judge.OpParty(o), judge.HoldParty(h)
	w := judge.NewWitness(t, h.Lock, o.Call, h.Start, p, q)
	w.What = fmt.Sprintf("%v failed at %s to acquire %s, but its place in the queue of lock %q, token %s, was granted to %v at %s", p, verdict.At(o.Ret), words.Count(o.Parts, "lock"), h.Lock, verdict.Token(h.Token), q, verdict.At(h.Start))
	return w
}

func deadlock(t *facts.Trace, a, b *facts.Op) verdict.Witness {
	p, q := judge.OpParty(a), judge.OpParty(b)
	w := judge.NewWitness(t, a.Lock, max(a.Call, b.Call), min(a.Ret, b.Ret), p, q)
	w.What = fmt.Sprintf("%v and %v waited for each other: the one was ahead in the queue of lock %q, the other in that of lock %q", p, q, a.Lock, b.Lock)
	return w
}
