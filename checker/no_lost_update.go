package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// lostUpdatesExcused is the name of a figure.
const lostUpdatesExcused = "lost updates excused by a forced expiry, a pause or a told loss"

// counterJudge: behind a fence no increment is lost, under any fault, nor where a
// transaction in ZooKeeper looks at the lock. Where only
// the lock protects the counter, no increment is lost either, except by a holder
// that is excused by a forced expiry or a pause.
type counterJudge struct {
	v               *Verdict
	store           string
	writes, refused int
	used            bool
	raw             int // violations without excuses
	counters        map[string]*counter
}

// counter is the counter of one lock, as windows of the history show it.
type counter struct {
	waiting []*op  // settled, but an older operation is not
	excused []span // see excusedWrites
	judged  *epochs
	plainly *epochs // without excuses; nil where there are none
}

// newCounterJudge returns what judges the counters of a store.
func newCounterJudge(store string) newJudge {
	return func(_ *trace, v *Verdict) judge {
		v.Expected = true
		return &counterJudge{v: v, store: store, counters: map[string]*counter{}}
	}
}

func (j *counterJudge) excusing() bool { return j.store == histories.StorePlain }

func (j *counterJudge) window(_ *engines, t *trace) {
	oldest := map[string]time.Duration{} // of a counter's operations that are not settled
	for _, o := range t.ops {
		if o.store != j.store {
			continue
		}
		j.used = true
		k := j.counters[o.lock]
		if k == nil {
			k = &counter{judged: newEpochs()}
			if j.excusing() {
				k.plainly = newEpochs()
			}
			k.leftOut(&t.header, o)
			j.counters[o.lock] = k
		}
		if !t.settled(o) {
			if _, ok := oldest[o.lock]; !ok {
				oldest[o.lock] = o.call
			}
			continue
		}
		if o.kind == histories.Write && o.ok() {
			j.writes++
		}
		if o.kind == histories.Write && o.result == histories.Fail {
			j.refused++
		}
		k.waiting = append(k.waiting, o)
	}
	for _, lock := range t.locks {
		k := j.counters[lock]
		if k == nil {
			continue
		}
		horizon, open := oldest[lock]
		if !open {
			horizon = forever
		}
		k.judge(j, t, horizon)
	}
}

// leftOut takes the values of a counter, that of o, that were written but not by any
// write of a history that was shrunk.
func (k *counter) leftOut(header *histories.Header, o *op) {
	if header.Shrunk == nil {
		return
	}
	for _, w := range header.Shrunk.Written {
		if w.Lock == o.lock && w.Store == o.store {
			k.judged.maybe[w.Value] = true
			if k.plainly != nil {
				k.plainly.maybe[w.Value] = true
			}
		}
	}
}

// judge judges what returned before an instant, before which everything that was
// invoked is known.
func (k *counter) judge(j *counterJudge, t *trace, horizon time.Duration) {
	slices.SortStableFunc(k.waiting, func(a, b *op) int { return cmp.Compare(a.call, b.call) })
	if j.excusing() {
		k.excused = merged(append(k.excused, t.excusedWrites(k.waiting)...))
	}
	var ready, left []*op
	for _, o := range k.waiting {
		if o.ret < horizon || o.ret == forever && (t.last || o.gone && o.call < horizon) {
			ready = append(ready, o)
		} else {
			left = append(left, o)
		}
	}
	k.waiting = left
	if len(left) > 0 {
		horizon = min(horizon, left[0].call)
	}
	if k.plainly != nil {
		k.plainly.judge(t, ready, nil, horizon, func(func() Witness) { j.raw++ })
	}
	k.judged.judge(t, ready, k.excused, horizon, j.v.violate)
	for len(k.excused) > 0 && k.excused[0].to < horizon {
		k.excused = k.excused[1:]
		k.judged.dropped++
	}
	if t.last {
		k.judged.close(t, j.v.violate)
		if k.plainly != nil {
			k.plainly.close(t, func(func() Witness) { j.raw++ })
		}
	}
}

func (j *counterJudge) conclude(_ *engines, t *trace) {
	v := j.v
	switch j.store {
	case histories.StoreFenced:
		v.Promised = t.header.Promises.Tokens
	case histories.StoreGuarded:
		v.Promised = t.header.Promises.Guards
	case histories.StorePlain:
		v.Promised = true
	}
	v.count("writes", j.writes)
	v.count("writes refused", j.refused)
	if j.excusing() {
		v.count(lostUpdatesExcused, max(j.raw-v.Violations, 0))
	}
	if j.writes == 0 {
		v.Expected = j.used
		v.idle("nothing was written to the " + j.store + " counter")
		return
	}
	v.conclude(fmt.Sprintf("%s, none lost", words.Count(j.writes, "write")), fmt.Sprintf("the %s counter was broken %s", j.store, words.Times(v.Violations)))
}

// excusedWrites returns when a write may have hit the counter that mutual
// exclusion did not have to keep out: its process was excused by a forced
// expiry or a pause, or had been told of its loss, perhaps while the write was under way.
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
	return out
}

// merged returns the union of some spans, in order.
func merged(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// epochs judge the operations of one counter, which only increments
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
// history into epochs: after each, it starts afresh from whatever is there, so only
// operations with no window between or in them are compared.
type epochs struct {
	n       int // of the epoch
	dropped int // excused spans that are not listed any more: all before the epoch
	top     *op // the greatest write of those that are not in recent
	recent  []*op
	read    map[*hold]*op  // the last read of a hold
	wrote   map[int64]*op  // the first write of a value, of those in recent
	chains  chains         // the values written
	maybe   map[int64]bool // values that an unanswered or excused write may have written
	closed  []chains       // of the epochs before
}

func newEpochs() *epochs {
	e := &epochs{maybe: map[int64]bool{}}
	e.begin(0)
	return e
}

func (e *epochs) begin(n int) {
	e.n, e.top, e.recent = n, nil, nil
	e.read, e.wrote = map[*hold]*op{}, map[int64]*op{}
	if len(e.chains) > 1 {
		e.closed = append(e.closed, e.chains)
	}
	e.chains = nil
}

// judge judges operations, by invocation. Those to come return at horizon or
// later.
func (e *epochs) judge(t *trace, ops []*op, excused []span, horizon time.Duration, violate func(func() Witness)) {
	var same []*op // of the epoch
	for _, o := range ops {
		// The spans that ended before it, and those that began before it
		// ended: equal if it touches none.
		lo, _ := slices.BinarySearchFunc(excused, o.call, func(w span, at time.Duration) int { return cmp.Compare(w.to, at) })
		hi, _ := slices.BinarySearchFunc(excused, o.ret, func(w span, at time.Duration) int {
			if w.from <= at {
				return -1
			}
			return 1
		})
		if !o.ok() || lo != hi {
			if o.kind == histories.Write && o.result != histories.Fail {
				e.maybe[o.value] = true
			}
			continue
		}
		if n := lo + e.dropped; n != e.n {
			e.compare(t, same, violate)
			same = nil
			e.begin(n)
		}
		same = append(same, o)
	}
	e.compare(t, same, violate)
	e.forget(horizon)
}

// compare judges operations of one epoch.
func (e *epochs) compare(t *trace, ops []*op, violate func(func() Witness)) {
	returned := slices.Clone(e.recent)
	for _, o := range ops {
		if o.kind == histories.Write {
			returned = append(returned, o)
		}
	}
	slices.SortStableFunc(returned, func(a, b *op) int { return cmp.Compare(a.ret, b.ret) })
	top := e.top // the greatest write that had returned before
	for _, o := range ops {
		for ; len(returned) > 0 && returned[0].ret < o.call; returned = returned[1:] {
			top = greater(top, returned[0])
		}
		if o.kind == histories.Read {
			if o.hold != nil {
				e.read[o.hold] = o
			}
			if w := top; w != nil && o.value < w.value {
				violate(func() Witness { return t.wentBack(w, o) })
			}
			continue
		}
		e.write(t, o, top, violate)
	}
}

func (e *epochs) write(t *trace, o, top *op, violate func(func() Witness)) {
	other := e.wrote[o.value]
	if other == nil && e.top != nil && e.top.value == o.value {
		other = e.top
	}
	if other == nil {
		e.wrote[o.value] = o
		e.recent = append(e.recent, o)
		e.chains = e.chains.add(o)
	}
	switch {
	case top != nil && o.value < top.value:
		violate(func() Witness { return t.wentBack(top, o) })
		return
	case other != nil:
		violate(func() Witness { return t.wroteTwice(other, o) })
		return
	}
	if o.hold == nil {
		return
	}
	if r := e.read[o.hold]; r != nil && r.process == o.process && o.value != r.value+1 {
		violate(func() Witness { return t.noIncrement(r, o) })
	}
	delete(e.read, o.hold)
}

func greater(a, b *op) *op {
	if a == nil || b.value > a.value {
		return b
	}
	return a
}

// forget keeps what may be compared with an operation that returns at horizon or
// later, and was invoked not before the last one that is known.
func (e *epochs) forget(horizon time.Duration) {
	e.recent = slices.DeleteFunc(e.recent, func(w *op) bool {
		if w.ret >= horizon {
			return false
		}
		e.top = greater(e.top, w)
		delete(e.wrote, w.value)
		return true
	})
	for h := range e.read {
		if h.end < horizon {
			delete(e.read, h)
		}
	}
}

// close judges the gaps between the values that were written.
func (e *epochs) close(t *trace, violate func(func() Witness)) {
	for _, c := range append(e.closed, e.chains) {
		c.gaps(e.maybe, func(a, b *op) { violate(func() Witness { return t.gap(a, b, b.value-1) }) })
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
