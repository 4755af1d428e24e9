package checker

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// freeTries finds tries that were refused although the lock was certainly free: from
// before the try was called until it had returned nobody else had asked for the
// lock but who had given it back by then, in a release that was answered, or by
// closing its client with no fault about.
//
// What somebody has left behind may be in the way, see inTheWay. Until then a try may be
// refused; or until somebody else has been granted the lock behind it.
type freeTries struct {
	t     *trace
	way   *inTheWay
	users map[string][]*op // acquires of each lock that may be in the way of a try
	kept  map[string]int   // how many of them there were when they were last gone through
	found []refusedTry
}

// refusedTry is a try that was refused although nobody else was in its way.
type refusedTry struct {
	try   *op
	last  *op     // that had left before
	rests []*hold // given back a while ago: whether what they stood on is gone is known when their sessions have gone on
}

func newFreeTries(t *trace, way *inTheWay) *freeTries {
	return &freeTries{t: t, way: way, users: map[string][]*op{}, kept: map[string]int{}}
}

func (f *freeTries) invoked(o *op) {
	if !o.acquires() || !(o.recipe().Guards() || o.recipe() == histories.Semaphore) {
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
		all = slices.DeleteFunc(all, func(x *op) bool { return f.way.until(x) < oldest })
		f.kept[o.lock] = len(all)
	}
	f.users[o.lock] = append(all, o)
}

// completed judges a try that was refused.
func (f *freeTries) completed(o *op) {
	if !o.refused || o.parts > 0 || o.changedSession() || len(f.users[o.lock]) == 0 || o.permits > max(f.t.header.Locks[o.lock].Size, 1) {
		return // of more permits than there are
	}
	refused := refusedTry{try: o}
	for _, x := range slices.Backward(f.users[o.lock]) {
		if x == o {
			continue
		}
		until := f.way.until(x)
		switch {
		case until >= o.call:
			return
		case refused.last == nil:
			refused.last = x
		}
		if f.way.rests(x, until) && f.way.leaves(x, until) >= o.call {
			refused.rests = append(refused.rests, x.hold)
		}
	}
	f.found = append(f.found, refused)
}

// granted drops those of whom nothing can be left, now that y has been granted the
// lock: whatever one of another session had made stood ahead of y, who has waited for
// it. That takes a lock that nobody else may hold meanwhile, and time for what the other
// one had asked for to have been made, as for wake-ups.
func (f *freeTries) granted(y *op) {
	h := y.hold
	if !y.ok() || !y.acquires() || !y.recipe().Guards() || h == nil || h.acquire != y || y.reads() || y.token.Sub != 0 || f.way.bound == 0 {
		return
	}
	f.users[y.lock] = slices.DeleteFunc(f.users[y.lock], func(x *op) bool {
		switch h := x.hold; {
		case x == y, x.done < 0 && !x.gone:
			return false
		case h != nil && h.acquire == x && (h.endEvent < 0 || h.released != forever && !x.changedSession()):
			return false // it has not left, or it is known when
		}
		return x.session != "" && !x.was(y.session) && f.way.made(x) < y.call
	})
}

// wrong returns the tries that had to succeed, when the history is known to its end.
func (f *freeTries) wrong() []func() Witness {
	var all []func() Witness
	for _, r := range f.found {
		if !slices.ContainsFunc(r.rests, func(h *hold) bool { return !f.t.sessions.livedOn(h) }) {
			all = append(all, func() Witness { return f.witness(r) })
		}
	}
	return all
}

func (f *freeTries) witness(r refusedTry) Witness {
	o, p := r.try, r.try.party()
	w := f.t.newWitness(o.lock, o.call, o.ret, p)
	w.What = fmt.Sprintf("%v tried lock %q at %s and was refused at %s, when nobody held or wanted it", p, o.lock, at(o.call), at(o.ret))
	if r.last != nil && r.last.hold != nil {
		w.Parties = append(w.Parties, r.last.hold.party())
		w.What += fmt.Sprintf(": %v, the last who had it, had given it back by %s", r.last.hold.party(), at(r.last.hold.released))
	}
	return w
}
