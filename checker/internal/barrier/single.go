package barrier

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/collection"
	"github.com/zkverify/zkverify/internal/words"
)

// Crossing holds the operations that affect one barrier. A set and a remove take effect at one
// instant between invocation and answer. A wait that returned ok proves that the barrier was
// down at such an instant. A set that was not answered constrains nothing, as it may never have
// taken effect. A remove that was not answered may take effect at any time after its
// invocation, once, or never. An operation that failed had no effect, and a wait that failed
// proves nothing.
type Crossing struct {
	Sets    []*facts.Op // answered ok, by invocation, as in the other lists
	Removes []*facts.Op // answered ok, or not known to have failed
	Waits   []*facts.Op // answered ok
}

// Add adds o if it affects the barrier, and reports whether it does.
func (x *Crossing) Add(o *facts.Op) bool {
	switch {
	case o.Kind == histories.Set && o.OK():
		x.Sets = append(x.Sets, o)
	case o.Kind == histories.Remove && o.Result != histories.Fail:
		x.Removes = append(x.Removes, o)
	case o.Kind == histories.Wait && o.OK():
		x.Waits = append(x.Waits, o)
	default:
		return false
	}
	return true
}

// Until returns the last instant at which a remove can take effect.
func Until(remove *facts.Op) time.Duration {
	if remove.OK() {
		return remove.Ret
	}
	return facts.Forever
}

// demand is the demand of a wait that passed: a remove must have taken effect between the
// invocation of the set and the return of the wait. The set is the last invoked of those that
// were answered before the wait was invoked.
type demand struct{ set, wait *facts.Op }

// barrierSweep is the interval engine of barriers: it finds the demands that cannot be met. The
// history is linearizable exactly when there is none.
//
// Suppose the instant at which each remove takes effect is known. A set during which some
// remove takes effect can take effect right before the last such remove, and stops no wait. Any
// other set is best put off to its return, and keeps the barrier up from there to the next
// remove. So a wait passes unless, for some set that was answered before it began, no remove
// takes effect between the set's invocation and the wait's return. Of these sets, the one that
// was invoked last has the strictest demand.
//
// It remains to choose an instant for each remove so that every demand contains one. Take the
// demands by their ends. If no instant chosen so far lies in a demand, one must be added, and
// the demand's end is the best place: every later demand that an earlier place would meet is
// met there too. Of the removes that can take effect then, take the one with the earliest last
// instant: any other choice could be exchanged for it. A remove that was not needed by its last
// instant takes effect then. If no remove can be taken, this demand and those before it cannot
// all be met.
//
// It is not enough to look for a wait inside an interval in which the barrier was certainly up:
// two sets during one long remove, each followed by a wait that passes, are illegal, though
// each of the waits alone could be right.
//
// All this visits the demands by their ends, so one pass suffices. A demand is judged when
// every remove that was invoked by its end is answered, or never will be. Of the sets that were
// answered before the oldest wait not yet judged, only the one invoked last is kept. A remove
// that was answered before any kept set was invoked meets no demand any more. Of a remove that
// is never answered only its invocation is kept.
type barrierSweep struct {
	set     *facts.Op       // the last invoked set of those not in sets
	sets    []*facts.Op     // by answer
	removes []*facts.Op     // answered, by invocation
	lost    []time.Duration // invocations of removes that are never answered
	waits   []*facts.Op     // that passed and are not judged, by answer
	// latest[i] is the last invoked of the first i+1 sets; returned holds the answers of the
	// removes, in order.
	latest   []*facts.Op
	returned []time.Duration
	begun    []*facts.Op // waits for which it is not known yet whether the barrier was up

	taken   time.Duration // removes invoked by then are in pending, or in spare
	pending collection.Heap[deadline]
	spare   int           // removes that are never answered
	last    time.Duration // the last instant chosen so far

	passed, held int // waits that passed; waits that began while the barrier was certainly up
}

func newBarrierSweep() barrierSweep { return barrierSweep{taken: -1, last: -1} }

// take takes in settled operations.
func (b *barrierSweep) take(ops []*facts.Op) {
	for _, o := range ops {
		switch {
		case o.Kind == histories.Set && o.OK():
			b.sets = append(b.sets, o)
		case o.Kind == histories.Remove && o.OK():
			b.removes = append(b.removes, o)
		case o.Kind == histories.Remove && o.Result != histories.Fail:
			b.lost = append(b.lost, o.Call)
		case o.Kind == histories.Wait:
			b.begun = append(b.begun, o)
			if o.OK() {
				b.passed++
				b.waits = append(b.waits, o)
			}
		}
	}
	byAnswer := func(a, b *facts.Op) int { return cmp.Or(cmp.Compare(a.Ret, b.Ret), a.Invoke-b.Invoke) }
	slices.SortFunc(b.sets, byAnswer)
	slices.SortFunc(b.waits, byAnswer)
	slices.SortFunc(b.removes, func(a, b *facts.Op) int { return a.Invoke - b.Invoke })
	slices.Sort(b.lost)
	b.latest, b.returned = b.latest[:0], b.returned[:0]
	for i, s := range b.sets {
		if i > 0 && b.latest[i-1].Call > s.Call {
			s = b.latest[i-1]
		}
		b.latest = append(b.latest, s)
	}
	for _, r := range b.removes {
		b.returned = append(b.returned, r.Ret)
	}
	slices.Sort(b.returned)
}

// before returns the last invoked of the sets that were answered before an instant, or nil.
func (b *barrierSweep) before(when time.Duration) *facts.Op {
	set := b.set
	n, _ := slices.BinarySearchFunc(b.sets, when, func(s *facts.Op, when time.Duration) int { return cmp.Compare(s.Ret, when) })
	if n > 0 && (set == nil || b.latest[n-1].Call >= set.Call) {
		set = b.latest[n-1]
	}
	return set
}

// judge judges the waits for which every remove is known: all removes that were invoked before
// known are settled. It reports each demand that cannot be met, with the number of removes
// under way.
func (b *barrierSweep) judge(known time.Duration, early func(d demand, removes int)) {
	b.begun = slices.DeleteFunc(b.begun, func(w *facts.Op) bool {
		if w.Call >= known {
			return false
		}
		if set := b.before(w.Call); set != nil && b.underWay(set.Call, w.Call) == 0 {
			b.held++
		}
		return true
	})
	b.waits = slices.DeleteFunc(b.waits, func(w *facts.Op) bool {
		if w.Ret >= known {
			return false
		}
		if set := b.before(w.Call); set != nil && !b.meet(set.Call, w.Ret) {
			early(demand{set, w}, b.underWay(set.Call, w.Ret))
		}
		return true
	})
}

// advance makes the removes whose last instant has come by a time take effect then.
func (b *barrierSweep) advance(to time.Duration) {
	if to > b.taken {
		for _, r := range b.removes[b.called(b.taken):b.called(to)] {
			b.pending.Push(deadline(r.Ret))
		}
		b.spare += calledBy(b.lost, to) - calledBy(b.lost, b.taken)
	}
	b.taken = to
	for len(b.pending) > 0 && time.Duration(b.pending[0]) <= to {
		b.last = max(b.last, time.Duration(b.pending.Pop()))
	}
}

// meet chooses an instant in [from, to] at which a remove takes effect, if none has been chosen
// there and a remove is available.
func (b *barrierSweep) meet(from, to time.Duration) bool {
	b.advance(to)
	switch {
	case b.last >= from:
		return true
	case len(b.pending) > 0:
		b.pending.Pop()
	case b.spare > 0:
		b.spare--
	default:
		return false
	}
	b.last = to
	return true
}

// underWay counts the removes that can have taken effect in [from, to].
func (b *barrierSweep) underWay(from, to time.Duration) int {
	over, _ := slices.BinarySearch(b.returned, from)
	return b.called(to) - over + calledBy(b.lost, to)
}

// called returns the number of removes that were called by a time.
func (b *barrierSweep) called(by time.Duration) int {
	return sort.Search(len(b.removes), func(i int) bool { return b.removes[i].Call > by })
}

// calledBy returns the number of the sorted times that are not after by.
func calledBy(times []time.Duration, by time.Duration) int {
	return sort.Search(len(times), func(i int) bool { return times[i] > by })
}

// forget drops the operations that cannot affect a wait that is not judged yet. The oldest wait
// and the oldest set that are still open were invoked at wait and set.
func (b *barrierSweep) forget(wait, set time.Duration) {
	for _, w := range slices.Concat(b.waits, b.begun) {
		wait = min(wait, w.Call)
	}
	b.set = b.before(wait)
	if b.set != nil && b.last >= b.set.Call && b.last < wait {
		b.set = nil // a remove has taken effect since
	}
	b.sets = slices.DeleteFunc(b.sets, func(s *facts.Op) bool { return s.Ret < wait })
	for _, s := range b.sets {
		set = min(set, s.Call)
	}
	if b.set != nil {
		set = min(set, b.set.Call)
	}
	b.removes = slices.DeleteFunc(b.removes, func(r *facts.Op) bool { return r.Ret < set })
}

// DecideBarrier keeps the removes of a barrier that were under way, and so decide whether a
// process could pass.
func DecideBarrier(t *facts.Trace, w verdict.Witness, keep map[int]bool) {
	if t.Recipe(w.Lock) != histories.Barrier {
		return
	}
	from, to := w.From, w.To
	for _, p := range w.Parties {
		from, to = min(from, p.From), max(to, min(p.To, t.End))
	}
	for _, o := range facts.Each(t, t.Ops) {
		if o.Lock == w.Lock && o.Kind == histories.Remove && o.Result != histories.Fail && o.Call <= to && Until(o) >= from {
			keep[o.Invoke] = true
		}
	}
}

func passedEarly(t *facts.Trace, d demand, removes int) verdict.Witness {
	p, q := judge.OpParty(d.wait), judge.OpParty(d.set)
	w := judge.NewWitness(t, d.wait.Lock, d.wait.Call, d.wait.Ret, q, p)
	w.What = fmt.Sprintf("%v waited at barrier %q from %s and passed at %s, although %v had put it up by %s", p, w.Lock, verdict.At(d.wait.Call), verdict.At(d.wait.Ret), q, verdict.At(d.set.Ret))
	if removes == 0 {
		w.What += " and no process had asked to remove it since"
	} else {
		w.What += fmt.Sprintf("; what was under way since then, %s, must have let others pass before", words.Count(removes, "remove"))
	}
	return w
}

// deadline is the last instant of a remove.
type deadline time.Duration

// Before orders deadlines by time.
func (d deadline) Before(e deadline) bool { return d < e }
