package checker

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/zkverify/zkverify/histories"
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

// until is the last instant at which a remove can take effect.
func until(remove *op) time.Duration {
	if remove.ok() {
		return remove.ret
	}
	return forever
}

// singleBarriers judges the barriers. It returns how many waits passed, and how
// many were begun, whatever became of them, while the barrier was certainly up.
func (c *check) singleBarriers(t *trace, v *Verdict, locks []string) (passes, held int) {
	all := map[string]*crossing{}
	for _, lock := range locks {
		all[lock] = &crossing{}
	}
	failed := map[string][]*op{}
	for _, o := range t.ops {
		if x := all[o.lock]; x != nil && !x.add(o) && o.kind == histories.Wait {
			failed[o.lock] = append(failed[o.lock], o)
		}
	}
	for _, lock := range locks {
		x := all[lock]
		found := false
		if c.sweeps() {
			for _, d := range x.early() {
				found = true
				v.violate(func() Witness { return t.passedEarly(x, d) })
			}
		}
		if c.searches() {
			c.compare(t, v, lock, found, c.search.barrier(x))
		}
		passes += len(x.waits)
		held += x.heldBack(x.waits) + x.heldBack(failed[lock])
	}
	return passes, held
}

// demand is what a wait that passed asks for: a remove must have taken effect
// between the invocation of the set and the return of the wait. The set was
// answered before the wait was invoked, and of those it was invoked last.
type demand struct{ set, wait *op }

// demands returns those of all waits, by the return of the wait.
func (x *crossing) demands() []demand {
	byRet := slices.Clone(x.sets)
	slices.SortStableFunc(byRet, func(a, b *op) int { return cmp.Compare(a.ret, b.ret) })
	latest := make([]*op, len(byRet)) // of the sets up to here, the one that was invoked last
	for i, s := range byRet {
		latest[i] = s
		if i > 0 && latest[i-1].call > s.call {
			latest[i] = latest[i-1]
		}
	}
	var out []demand
	for _, w := range x.waits {
		if n := sort.Search(len(byRet), func(i int) bool { return byRet[i].ret >= w.call }); n > 0 {
			out = append(out, demand{latest[n-1], w})
		}
	}
	slices.SortStableFunc(out, func(a, b demand) int { return cmp.Compare(a.wait.ret, b.wait.ret) })
	return out
}

// early returns the demands that cannot be met. The history is linearizable
// exactly when there is none.
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
func (x *crossing) early() []demand {
	var out []demand
	var pending deadlines
	next, last := 0, time.Duration(-1)
	for _, d := range x.demands() {
		end := d.wait.ret
		for ; next < len(x.removes) && x.removes[next].call <= end; next++ {
			heap.Push(&pending, until(x.removes[next]))
		}
		for len(pending) > 0 && pending[0] <= end {
			last = max(last, heap.Pop(&pending).(time.Duration))
		}
		switch {
		case last >= d.set.call:
		case len(pending) > 0:
			heap.Pop(&pending)
			last = end
		default:
			out = append(out, d)
		}
	}
	return out
}

// heldBack counts the waits that were begun while the barrier was certainly up.
func (x *crossing) heldBack(waits []*op) int {
	begun := crossing{sets: x.sets}
	for _, w := range waits {
		begun.waits = append(begun.waits, &op{call: w.call, ret: w.call})
	}
	n, next, open := 0, 0, time.Duration(-1) // the last instant of any remove invoked so far
	for _, d := range begun.demands() {
		for ; next < len(x.removes) && x.removes[next].call <= d.wait.call; next++ {
			open = max(open, until(x.removes[next]))
		}
		if open < d.set.call {
			n++
		}
	}
	return n
}

func (t *trace) passedEarly(x *crossing, d demand) Witness {
	p, q := d.wait.party(), d.set.party()
	w := t.newWitness(d.wait.lock, d.wait.call, d.wait.ret, q, p)
	w.What = fmt.Sprintf("%v waited at barrier %q from %s and passed at %s, although %v had put it up by %s", p, w.Lock, at(d.wait.call), at(d.wait.ret), q, at(d.set.ret))
	n := 0
	for _, r := range x.removes {
		if r.call <= d.wait.ret && until(r) >= d.set.call {
			n++
		}
	}
	if n == 0 {
		w.What += " and nobody had asked to remove it since"
	} else {
		w.What += fmt.Sprintf("; what was under way since then, %s, must have let others pass before", plural(n, "remove"))
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
