package fencing

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// LostUpdatesExcused is the name of a figure.
const LostUpdatesExcused = "lost updates excused by a forced expiry, a pause or a told loss"

// counterJudge judges that no increment of a counter is lost: under any fault if the counter is
// behind a fence, or is written in a transaction in ZooKeeper that checks the lock. If only the
// lock protects the counter, a holder that is excused by a forced expiry or a pause may lose
// one.
type counterJudge struct {
	v               *verdict.Verdict
	store           string
	writes, refused int
	used            bool
	raw             int // violations found without excuses
	counters        facts.PerLock[counter]
}

// counter is the counter of one lock in the windows of the history.
type counter struct {
	waiting []*facts.Op  // settled, but an older operation is not
	excused []facts.Span // see excusedWrites
	judged  *epochs
	plainly *epochs // judged without excuses; nil if the store has none
}

// NewNoLostUpdate returns the maker of the judge of the counters of a store.
func NewNoLostUpdate(store string) judge.Maker {
	return func(t *facts.Trace, v *verdict.Verdict) judge.Judge {
		v.Expected = true
		if s := t.Service; store == histories.StoreGuarded && s != nil && s.Exact() {
			t.Listen(&unguarded{t: t, v: v, under: map[*facts.Op][]*facts.Hold{}})
		}
		if store == histories.StoreFenced {
			t.Listen(&overcautious{t: t, v: v, newest: map[*facts.LockInfo]histories.Token{}})
		}
		return &counterJudge{v: v, store: store}
	}
}

// shared reports whether o is of a holder beside whom others may hold the lock. Its writes count
// nothing.
func shared(o *facts.Op) bool { return o.Recipe().HasPermits() || o.Mode == histories.ModeRead }

func (j *counterJudge) excusing() bool { return j.store == histories.StorePlain }

func (j *counterJudge) Window(_ *judge.Engines, t *facts.Trace) (kept int) {
	oldest := map[*facts.LockInfo]time.Duration{} // for each counter, the oldest operation that is not settled
	for _, o := range facts.Each(t, t.Ops) {
		if o.Store != j.store || o.Kind == histories.Write && shared(o) {
			continue
		}
		j.used = true
		k := j.counters.Make(o.Info(), func() *counter { return j.begin(&t.Header, o) })
		if !t.Settled(o) {
			if _, ok := oldest[o.Info()]; !ok {
				oldest[o.Info()] = o.Call
			}
			continue
		}
		if o.Kind == histories.Write && o.OK() {
			j.writes++
		}
		if o.Kind == histories.Write && o.Result == histories.Fail {
			j.refused++
		}
		k.waiting = append(k.waiting, o)
	}
	for lock := range t.LocksThat(facts.Every) {
		k := j.counters.Of(lock)
		if k == nil {
			continue
		}
		horizon, open := oldest[lock]
		if !open {
			horizon = facts.Forever
		}
		k.judge(j, t, horizon)
		kept += len(k.waiting) + len(k.excused) + len(k.judged.recent) + len(k.judged.read)
		if k.plainly != nil {
			kept += len(k.plainly.recent) + len(k.plainly.read)
		}
	}
	return kept
}

// begin returns the counter of the lock of o, its first operation.
func (j *counterJudge) begin(header *histories.Header, o *facts.Op) *counter {
	k := &counter{judged: newEpochs()}
	if j.excusing() {
		k.plainly = newEpochs()
	}
	k.leftOut(header, o)
	return k
}

// leftOut records the values of o's counter that were written by operations that are missing
// from a shrunk history.
func (k *counter) leftOut(header *histories.Header, o *facts.Op) {
	if header.Shrunk == nil {
		return
	}
	for _, w := range header.Shrunk.Written {
		if w.Lock == o.Lock && w.Store == o.Store {
			k.judged.maybe[w.Value] = true
			if k.plainly != nil {
				k.plainly.maybe[w.Value] = true
			}
		}
	}
}

// judge judges the operations that returned before horizon. All operations invoked before
// horizon are known.
func (k *counter) judge(j *counterJudge, t *facts.Trace, horizon time.Duration) {
	slices.SortStableFunc(k.waiting, func(a, b *facts.Op) int { return cmp.Compare(a.Call, b.Call) })
	if j.excusing() {
		k.excused = merged(append(k.excused, excusedWrites(t, k.waiting)...))
	}
	var ready, left []*facts.Op
	for _, o := range k.waiting {
		if o.Ret < horizon || o.Ret == facts.Forever && (t.Last || o.Gone && o.Call < horizon && !(j.excusing() && mayBeExcused(t, o))) {
			ready = append(ready, o)
		} else {
			left = append(left, o)
		}
	}
	k.waiting = left
	if len(left) > 0 {
		horizon = min(horizon, left[0].Call)
	}
	if k.plainly != nil {
		k.plainly.judge(t, ready, nil, horizon, func(func() verdict.Witness) { j.raw++ })
	}
	k.judged.judge(t, ready, k.excused, horizon, j.v.Violate)
	for len(k.excused) > 0 && k.excused[0].To < horizon {
		k.excused = k.excused[1:]
		k.judged.dropped++
	}
	if t.Last {
		k.judged.close(t, j.v.Violate)
		if k.plainly != nil {
			k.plainly.close(t, func(func() verdict.Witness) { j.raw++ })
		}
	}
}

func (j *counterJudge) Conclude(_ *judge.Engines, t *facts.Trace) {
	v := j.v
	switch j.store {
	case histories.StoreFenced:
		v.Promised = t.Header.Promises.Tokens
	case histories.StoreGuarded:
		v.Promised = t.Header.Promises.Guards
	case histories.StorePlain:
		v.Promised = true
	}
	v.Count("writes", j.writes)
	v.Count("writes refused", j.refused)
	if j.excusing() {
		v.Count(LostUpdatesExcused, max(j.raw-v.Violations, 0))
	}
	if j.writes == 0 && v.Violations == 0 {
		v.Expected = j.used
		v.Idle("nothing was written to the " + j.store + " counter")
		return
	}
	v.Conclude(fmt.Sprintf("%s, none lost", words.Count(j.writes, "write")), fmt.Sprintf("the %s counter was broken %s", j.store, words.Times(v.Violations)))
}

// mayBeExcused reports whether a write without an answer is of a hold that goes on: it may take
// effect when a fault excuses that hold.
func mayBeExcused(t *facts.Trace, o *facts.Op) bool {
	return o.Kind == histories.Write && o.Hold != nil && !t.Over(o.Hold) &&
		!slices.ContainsFunc(o.Hold.Excuses, func(x facts.Span) bool { return x.To != facts.Forever && o.Call <= x.To })
}

// excusedWrites returns the time spans in which a write that mutual exclusion need not keep out
// may have changed the counter: its process was excused by a forced expiry or a pause, or had
// been told of its loss, perhaps while the write was under way.
func excusedWrites(t *facts.Trace, ops []*facts.Op) []facts.Span {
	var out []facts.Span
	for _, o := range ops {
		if o.Kind != histories.Write || o.Result == histories.Fail {
			continue
		}
		to := o.Ret
		excused := o.Stale
		if h := o.Hold; h != nil {
			excused = h.Why == facts.ByLoss && o.Ret > h.End
			for _, x := range h.Excuses {
				if o.Call <= x.To && o.Ret >= x.From {
					excused = true
					if to == facts.Forever {
						to = x.To
					}
				}
			}
		}
		if to == facts.Forever {
			to = o.Call
		}
		if excused {
			out = append(out, facts.Span{From: o.Call, To: to})
		}
	}
	return out
}

// merged returns the union of some spans, in order.
func merged(spans []facts.Span) []facts.Span {
	slices.SortFunc(spans, func(a, b facts.Span) int { return cmp.Compare(a.From, b.From) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}
