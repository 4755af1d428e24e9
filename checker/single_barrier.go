package checker

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// crossing is what bears on one barrier: a set and a remove take effect at one
// instant between invocation and answer, and a wait that returned ok says that
// the barrier was down at one. A set that was not answered constrains nothing,
// as it may never have taken effect; a remove that was not answered may take
// effect at any time after its invocation, once, or never. What failed had no
// effect, and a wait that failed says nothing.
type crossing struct {
	sets    []*op // answered ok, by invocation as all of them
	removes []*op // answered ok, or not known to have failed
	waits   []*op // answered ok
}

// add takes o in if it bears on the barrier.
func (x *crossing) add(o *op) bool {
	switch {
	case o.kind == histories.Set && o.ok():
		x.sets = append(x.sets, o)
	case o.kind == histories.Remove && o.result != histories.Fail:
		x.removes = append(x.removes, o)
	case o.kind == histories.Wait && o.ok():
		x.waits = append(x.waits, o)
	default:
		return false
	}
	return true
}

// all returns what bears on the barrier.
func (x *crossing) all() []*op { return slices.Concat(x.sets, x.removes, x.waits) }

// until is the last instant at which a remove can take effect.
func until(remove *op) time.Duration {
	if remove.ok() {
		return remove.ret
	}
	return forever
}

// demand is what a wait that passed asks for: a remove must have taken effect
// between the invocation of the set and the return of the wait. The set was
// answered before the wait was invoked, and of those it was invoked last.
type demand struct{ set, wait *op }

// barrierSweep is the interval engine of barriers: it finds the demands that cannot
// be met. The history is linearizable exactly when there is none.
//
// Suppose it is clear at which instant each remove takes effect. A set during
// which some remove does can come right before the last such one, and holds
// nobody back. Any other is best put off to its return, and holds back from
// there to the next remove. So a wait passes unless, for some set that was
// answered before it began, no remove takes effect between the set's invocation
// and the wait's return; and the set that was invoked last asks for the most.
//
// What is left is to find instants of the removes, one for each, such that every
// demand has one. Take the demands by their ends. If none of the instants chosen
// so far lies in it, one must be added, and its end is the best place: any
// demand still to come that an earlier place meets is met there too. Of the
// removes that can take effect then, the one that must do so soonest is the
// best: in any other choice it could be exchanged for that. A remove whose last
// instant comes without its having been needed takes effect then. If there is no
// remove to take, this demand and those before it cannot all be met.
//
// It is not enough to look for a wait that lies inside an interval in which the
// barrier was certainly up: two sets during one long remove, each followed by a
// wait that passes, are illegal, though each of the waits could be right.
//
// All this goes by the ends of the demands, so one pass does. A demand is judged when
// every remove that was invoked by its end is answered, or will never be. Of the
// sets that were answered before the oldest wait not yet judged, the one invoked
// last stands for all; and a remove that was answered before any set that is left
// was invoked meets no demand any more. Of a remove that is never answered its
// invocation is kept.
type barrierSweep struct {
	set     *op             // of those not in sets, the one invoked last
	sets    []*op           // by answer
	removes []*op           // answered, by invocation
	lost    []time.Duration // invocations of those that never will be
	waits   []*op           // that passed and are not judged, by answer
	begun   []*op           // waits of which it is not known whether the barrier was up

	taken   time.Duration // removes invoked by then are in pending, or in spare
	pending deadlines
	spare   int           // of those never answered
	last    time.Duration // the last instant chosen so far

	passed, held int // waits that passed; that were begun while the barrier was certainly up
}

func newBarrierSweep() barrierSweep { return barrierSweep{taken: -1, last: -1} }

// early returns the demands of a whole history that cannot be met.
func (x *crossing) early() []demand {
	var out []demand
	b := newBarrierSweep()
	b.take(x.all())
	b.judge(forever, func(d demand, _ int) { out = append(out, d) })
	return out
}

// take takes in what has come to its end.
func (b *barrierSweep) take(ops []*op) {
	for _, o := range ops {
		switch {
		case o.kind == histories.Set && o.ok():
			b.sets = append(b.sets, o)
		case o.kind == histories.Remove && o.ok():
			b.removes = append(b.removes, o)
		case o.kind == histories.Remove && o.result != histories.Fail:
			b.lost = append(b.lost, o.call)
		case o.kind == histories.Wait:
			b.begun = append(b.begun, o)
			if o.ok() {
				b.passed++
				b.waits = append(b.waits, o)
			}
		}
	}
	byAnswer := func(a, b *op) int { return cmp.Or(cmp.Compare(a.ret, b.ret), a.invoke-b.invoke) }
	slices.SortFunc(b.sets, byAnswer)
	slices.SortFunc(b.waits, byAnswer)
	slices.SortFunc(b.removes, func(a, b *op) int { return a.invoke - b.invoke })
	slices.Sort(b.lost)
}

// before returns of the sets that were answered before an instant the one that was
// invoked last, or nil.
func (b *barrierSweep) before(when time.Duration) *op {
	set := b.set
	for _, s := range b.sets {
		if s.ret >= when {
			break
		}
		if set == nil || s.call >= set.call {
			set = s
		}
	}
	return set
}

// judge judges the waits of which all is known: every remove that was invoked
// before known has come to its end. With a demand that cannot be met it reports how
// many removes were under way.
func (b *barrierSweep) judge(known time.Duration, early func(d demand, removes int)) {
	b.begun = slices.DeleteFunc(b.begun, func(w *op) bool {
		if w.call >= known {
			return false
		}
		if set := b.before(w.call); set != nil && b.underWay(set.call, w.call) == 0 {
			b.held++
		}
		return true
	})
	b.waits = slices.DeleteFunc(b.waits, func(w *op) bool {
		if w.ret >= known {
			return false
		}
		if set := b.before(w.call); set != nil && !b.meet(set.call, w.ret) {
			early(demand{set, w}, b.underWay(set.call, w.ret))
		}
		return true
	})
}

// advance has the removes whose last instant comes by some time take effect then.
func (b *barrierSweep) advance(to time.Duration) {
	for _, r := range b.removes {
		if r.call > b.taken && r.call <= to {
			heap.Push(&b.pending, r.ret)
		}
	}
	for _, call := range b.lost {
		if call > b.taken && call <= to {
			b.spare++
		}
	}
	b.taken = to
	for len(b.pending) > 0 && b.pending[0] <= to {
		b.last = max(b.last, heap.Pop(&b.pending).(time.Duration))
	}
}

// meet chooses an instant in [from, to] at which a remove takes effect, if none
// has been chosen there and one can.
func (b *barrierSweep) meet(from, to time.Duration) bool {
	b.advance(to)
	switch {
	case b.last >= from:
		return true
	case len(b.pending) > 0:
		heap.Pop(&b.pending)
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
	n := 0
	for _, r := range b.removes {
		if r.call <= to && r.ret >= from {
			n++
		}
	}
	for _, call := range b.lost {
		if call <= to {
			n++
		}
	}
	return n
}

// forget lets go of what matters to no wait that is not judged. The oldest wait and
// the oldest set that are still open were invoked at wait and set.
func (b *barrierSweep) forget(wait, set time.Duration) {
	for _, w := range slices.Concat(b.waits, b.begun) {
		wait = min(wait, w.call)
	}
	b.set = b.before(wait)
	if b.set != nil && b.last >= b.set.call && b.last < wait {
		b.set = nil // a remove has taken effect since
	}
	b.sets = slices.DeleteFunc(b.sets, func(s *op) bool { return s.ret < wait })
	for _, s := range b.sets {
		set = min(set, s.call)
	}
	if b.set != nil {
		set = min(set, b.set.call)
	}
	b.removes = slices.DeleteFunc(b.removes, func(r *op) bool { return r.ret < set })
}

// decideBarrier keeps the removes of a barrier that were under way, and so decide
// whether somebody could pass.
func decideBarrier(t *trace, w Witness, keep map[int]bool) {
	if t.recipe(w.Lock) != histories.Barrier {
		return
	}
	from, to := w.From, w.To
	for _, p := range w.Parties {
		from, to = min(from, p.From), max(to, min(p.To, t.end))
	}
	for _, o := range t.ops {
		if o.lock == w.Lock && o.kind == histories.Remove && o.result != histories.Fail && o.call <= to && until(o) >= from {
			keep[o.invoke] = true
		}
	}
}

func (t *trace) passedEarly(d demand, removes int) Witness {
	p, q := d.wait.party(), d.set.party()
	w := t.newWitness(d.wait.lock, d.wait.call, d.wait.ret, q, p)
	w.What = fmt.Sprintf("%v waited at barrier %q from %s and passed at %s, although %v had put it up by %s", p, w.Lock, at(d.wait.call), at(d.wait.ret), q, at(d.set.ret))
	if removes == 0 {
		w.What += " and nobody had asked to remove it since"
	} else {
		w.What += fmt.Sprintf("; what was under way since then, %s, must have let others pass before", words.Count(removes, "remove"))
	}
	return w
}

// deadlines is a heap of the last instants of removes.
type deadlines []time.Duration

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i] < d[j] }
func (d deadlines) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *deadlines) Push(x any)        { *d = append(*d, x.(time.Duration)) }
func (d *deadlines) Pop() any {
	last := len(*d) - 1
	x := (*d)[last]
	*d = (*d)[:last]
	return x
}
