package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// noLostUpdateFenced: behind a fence no increment is lost, under any fault.
func (c *check) noLostUpdateFenced(t *trace) Verdict {
	v := Verdict{Guarantee: NoLostUpdateFenced, Promised: t.h.Header.Promises.Tokens, Expected: true}
	return t.noLostUpdate(v, histories.StoreFenced, false)
}

// noLostUpdatePlain: where only the lock protects the counter, no increment is
// lost either, except by a holder that is excused by a forced expiry.
func (c *check) noLostUpdatePlain(t *trace) Verdict {
	v := Verdict{Guarantee: NoLostUpdatePlain, Promised: true, Expected: true}
	return t.noLostUpdate(v, histories.StorePlain, true)
}

func (t *trace) noLostUpdate(v Verdict, store string, excusing bool) Verdict {
	counters := map[string][]*op{}
	writes, refused, used := 0, 0, false
	for _, o := range t.ops {
		if o.store != store {
			continue
		}
		used = true
		counters[o.lock] = append(counters[o.lock], o)
		if o.kind == histories.Write && o.ok() {
			writes++
		}
		if o.kind == histories.Write && o.result == histories.Fail {
			refused++
		}
	}
	raw := 0
	for _, lock := range t.locks {
		ops := counters[lock]
		var windows []span
		if excusing {
			windows = t.excusedWrites(ops)
		}
		if len(windows) > 0 {
			t.judgeCounter(ops, nil, func(func() Witness) { raw++ })
			before := v.Violations
			t.judgeCounter(ops, windows, v.violate)
			raw -= v.Violations - before
			continue
		}
		t.judgeCounter(ops, nil, v.violate)
	}
	v.count("writes", writes)
	v.count("writes refused", refused)
	if excusing {
		v.count("lost updates excused by a forced expiry or a told loss", max(raw, 0))
	}
	if writes == 0 {
		v.Expected = used
		v.idle("nothing was written to the " + store + " counter")
		return v
	}
	v.conclude(fmt.Sprintf("%s, none lost", plural(writes, "write")), fmt.Sprintf("the %s counter was broken %s", store, plural(v.Violations, "time")))
	return v
}

// excusedWrites returns when a write may have hit the counter that mutual
// exclusion did not have to keep out: its process was excused by a forced
// expiry, or had been told of its loss, perhaps while the write was under way.
// The spans are merged, and in order.
func (t *trace) excusedWrites(ops []*op) []span {
	var out []span
	for _, o := range ops {
		if o.kind != histories.Write || o.result == histories.Fail {
			continue
		}
		to := o.ret
		excused := o.stale
		if h := o.hold; h != nil {
			excused = h.why == byLoss && o.ret > h.end
			for _, x := range h.excuses {
				if o.call <= x.to && o.ret >= x.from {
					excused = true
					if to == forever {
						to = x.to
					}
				}
			}
		}
		if to == forever {
			to = o.call
		}
		if excused {
			out = append(out, span{o.call, to})
		}
	}
	slices.SortFunc(out, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	merged := out[:0]
	for _, s := range out {
		if n := len(merged); n > 0 && s.from <= merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, s.to)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// judgeCounter judges the operations of one counter, which only increments
// change. Each rule below is broken only by a history in which an increment was
// lost (or the store is no register), in whatever order concurrent operations
// took effect:
//
//   - two writes that succeeded with one value: both read the same number;
//   - a write or read that began after another write had returned, and has no
//     greater value (for a read: a smaller one): the counter went back;
//   - a write that is not one above what its process read in the same hold;
//   - a value between two written ones that nobody can have written.
//
// A write that was not answered may have happened, at any time since.
//
// Windows in which an excused write may have taken the counter back split the
// history: after each, it starts afresh from whatever is there, so only
// operations with no window between or in them are compared.
func (t *trace) judgeCounter(ops []*op, windows []span, violate func(func() Witness)) {
	epochs := map[int][]*op{}
	var order []int
	maybe := map[int64]bool{} // values that an unanswered or excused write may have written
	for _, o := range ops {
		// The windows that ended before it, and those that began before it
		// ended: equal if it touches none.
		lo, _ := slices.BinarySearchFunc(windows, o.call, func(w span, at time.Duration) int { return cmp.Compare(w.to, at) })
		hi, _ := slices.BinarySearchFunc(windows, o.ret+1, func(w span, at time.Duration) int { return cmp.Compare(w.from, at) })
		answered := o.ok()
		if o.ret == forever {
			hi = len(windows)
		}
		if o.kind == histories.Write && o.result != histories.Fail && (!answered || lo != hi) {
			maybe[o.value] = true
		}
		if !answered || lo != hi {
			continue
		}
		if epochs[lo] == nil {
			order = append(order, lo)
		}
		epochs[lo] = append(epochs[lo], o)
	}
	slices.Sort(order)
	for _, e := range order {
		t.judgeEpoch(epochs[e], maybe, violate)
	}
}

func (t *trace) judgeEpoch(ops []*op, maybe map[int64]bool, violate func(func() Witness)) {
	read := map[*hold]*op{}    // the last read of a hold
	wrote := map[int64]*op{}   // the first write of a value
	byRet := slices.Clone(ops) // ops is by call
	slices.SortStableFunc(byRet, func(a, b *op) int { return cmp.Compare(a.ret, b.ret) })
	var top *op // the greatest write that had returned before
	i := 0
	for _, o := range ops {
		for ; i < len(byRet) && byRet[i].ret < o.call; i++ {
			if w := byRet[i]; w.kind == histories.Write && (top == nil || w.value > top.value) {
				top = w
			}
		}
		if o.kind == histories.Read {
			if o.hold != nil {
				read[o.hold] = o
			}
			if top != nil && o.value < top.value {
				violate(func() Witness { return t.wentBack(top, o) })
			}
			continue
		}
		if other := wrote[o.value]; other != nil {
			violate(func() Witness { return t.wroteTwice(other, o) })
			continue
		}
		wrote[o.value] = o
		if top != nil && o.value < top.value {
			violate(func() Witness { return t.wentBack(top, o) })
			continue
		}
		if r := read[o.hold]; o.hold != nil && r != nil && r.process == o.process && o.value != r.value+1 {
			violate(func() Witness { return t.noIncrement(r, o) })
		}
		if o.hold != nil {
			delete(read, o.hold)
		}
	}
	t.judgeGaps(wrote, maybe, violate)
}

func (t *trace) judgeGaps(wrote map[int64]*op, maybe map[int64]bool, violate func(func() Witness)) {
	values := make([]int64, 0, len(wrote)+len(maybe))
	for v := range wrote {
		values = append(values, v)
	}
	for v := range maybe {
		if wrote[v] == nil {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	var below *op
	for i, v := range values {
		o := wrote[v]
		if o != nil && below != nil && values[i-1] != v-1 {
			a := below
			violate(func() Witness { return t.gap(a, o, v-1) })
		}
		if o != nil {
			below = o
		}
	}
}

func (t *trace) counterWitness(a, b *op, what string) Witness {
	w := t.newWitness(a.lock, min(a.call, b.call), max(a.ret, b.ret), a.party(), b.party())
	w.What = what
	return w
}

func (t *trace) wroteTwice(a, b *op) Witness {
	return t.counterWitness(a, b, fmt.Sprintf("%v and %v both wrote %d to the %s counter of lock %q, at %s and %s: one increment is lost",
		a.party(), b.party(), a.value, a.store, a.lock, at(a.ret), at(b.ret)))
}

func (t *trace) wentBack(a, b *op) Witness {
	did := "wrote"
	if b.kind == histories.Read {
		did = "read"
	}
	return t.counterWitness(a, b, fmt.Sprintf("%v wrote %d to the %s counter of lock %q at %s, then %v %s %d at %s: the counter went back",
		a.party(), a.value, a.store, a.lock, at(a.ret), b.party(), did, b.value, at(b.ret)))
}

func (t *trace) noIncrement(r, w *op) Witness {
	return t.counterWitness(r, w, fmt.Sprintf("%v read %d from the %s counter of lock %q at %s and wrote %d at %s: that is no increment",
		w.party(), r.value, r.store, r.lock, at(r.ret), w.value, at(w.ret)))
}

func (t *trace) gap(a, b *op, missing int64) Witness {
	return t.counterWitness(a, b, fmt.Sprintf("%v wrote %d to the %s counter of lock %q at %s, but nobody wrote %d",
		b.party(), b.value, b.store, b.lock, at(b.ret), missing))
}
