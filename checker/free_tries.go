package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// freeTries finds tries that were refused although the lock was certainly free: from
// before the try was called until it had returned nobody else had asked for the
// lock but who had given it back by then, in a release that was answered, or by
// closing its client with no fault about.
//
// Who failed, crashed, lost the lock, or was not answered may leave something behind
// that is in the way: a node that is deleted in the background, by a client that has
// to connect again first, or with its session. Until a while after that, and after
// the faults that hit it, a try may be refused.
type freeTries struct {
	t     *trace
	users map[string][]*op // acquires of each lock that may be in the way of a try
	kept  map[string]int   // how many of them there were when they were last gone through
	found []func() Witness
}

func newFreeTries(t *trace) *freeTries {
	return &freeTries{t: t, users: map[string][]*op{}, kept: map[string]int{}}
}

func (f *freeTries) invoked(o *op) {
	if !o.acquires() || !(o.of.recipe.Guards() || o.of.recipe == histories.Semaphore) {
		return
	}
	all := f.users[o.lock]
	if len(all) > 2*f.kept[o.lock]+256 {
		oldest := f.t.end
		for _, x := range all {
			if x.done < 0 && !x.gone {
				oldest = min(oldest, x.call)
			}
		}
		all = slices.DeleteFunc(all, func(x *op) bool { return f.inTheWay(x) < oldest })
		f.kept[o.lock] = len(all)
	}
	f.users[o.lock] = append(all, o)
}

// completed judges a try that was refused.
func (f *freeTries) completed(o *op, e *histories.Event) {
	if !e.Refused || o.parts > 0 || len(f.users[o.lock]) == 0 || o.permits > max(f.t.header.Locks[o.lock].Size, 1) {
		return // of more permits than there are
	}
	var last *op
	for _, x := range slices.Backward(f.users[o.lock]) {
		switch {
		case x == o:
		case f.inTheWay(x) >= o.call:
			return
		case last == nil:
			last = x
		}
	}
	f.found = append(f.found, func() Witness {
		p := o.party()
		w := f.t.newWitness(o.lock, o.call, o.ret, p)
		w.What = fmt.Sprintf("%v tried lock %q at %s and was refused at %s, when nobody held or wanted it", p, o.lock, at(o.call), at(o.ret))
		if last != nil && last.hold != nil {
			w.Parties = append(w.Parties, last.hold.party())
			w.What += fmt.Sprintf(": %v, the last who had it, had given it back by %s", last.hold.party(), at(last.hold.released))
		}
		return w
	})
}

// inTheWay returns until when an acquire may be in the way of others; forever if
// that is not known yet.
func (f *freeTries) inTheWay(x *op) time.Duration {
	h := x.hold
	switch {
	case x.gone:
		return f.leaves(x, x.by.retired)
	case x.done < 0:
		return forever
	case !x.ok():
		return f.leaves(x, x.ret)
	case h == nil || h.acquire != x:
		return x.ret // a re-entry
	case h.endEvent < 0:
		return forever
	case h.released != forever:
		return h.released
	}
	return f.leaves(x, h.end)
}

// leaves returns until when what an acquire has left behind at some time may be
// there: until three session timeouts after that, and after every fault that hits
// its process till then.
func (f *freeTries) leaves(x *op, from time.Duration) time.Duration {
	while := 3 * f.t.lifetime()
	until := after(from, while)
	for _, fault := range f.t.faults {
		if fault.start <= until && fault.stop >= x.call && fault.hits(x.process) {
			until = max(until, after(fault.stop, while))
		}
	}
	return until
}
