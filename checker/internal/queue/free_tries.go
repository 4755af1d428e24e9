package queue

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/witness"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// freeTries finds tries that were refused although the lock was certainly free: every
// other process that asked for the lock before the try returned had given it back before
// the try was called, in a release that was answered, or by closing its client while no
// fault was in force.
//
// A try may be refused for a node that another process left behind, for as long as
// inTheWay says, or until a later contender is granted the lock.
type freeTries struct {
	t     *facts.Trace
	way   *inTheWay
	locks facts.PerLock[tryUsers]
	found []refusedTry
}

// tryUsers are the acquires of a lock that may be in the way of a try.
type tryUsers struct {
	all  []*facts.Op
	kept int // how many of them there were when they were last gone through
}

// refusedTry is a try that was refused although nobody else was in its way.
type refusedTry struct {
	try   *facts.Op
	last  *facts.Op     // that had left before
	rests []*facts.Hold // given back a while ago: whether what they stood on is gone is known when their sessions have gone on
}

func newFreeTries(t *facts.Trace, way *inTheWay) *freeTries {
	return &freeTries{t: t, way: way}
}

func (f *freeTries) invoked(o *facts.Op) {
	if !o.Acquires() || !(o.Recipe().Guards() || o.Recipe() == histories.Semaphore) {
		return
	}
	users := f.locks.Make(o.Info(), func() *tryUsers { return &tryUsers{} })
	if len(users.all) > 2*users.kept+256 {
		oldest := f.t.End
		for _, x := range users.all {
			if x.Done < 0 && !x.Gone {
				oldest = min(oldest, x.Call)
			}
		}
		users.all = slices.DeleteFunc(users.all, func(x *facts.Op) bool { return f.way.until(x) < oldest })
		users.kept = len(users.all)
	}
	users.all = append(users.all, o)
}

// completed judges a try that was refused.
func (f *freeTries) completed(o *facts.Op) {
	users := f.locks.Of(o.Info())
	if !o.Refused || o.Parts > 0 || o.ChangedSession() || users == nil || len(users.all) == 0 || o.Permits > max(f.t.Header.Locks[o.Lock].Size, 1) {
		return // of more permits than there are
	}
	refused := refusedTry{try: o}
	for _, x := range slices.Backward(users.all) {
		if x == o {
			continue
		}
		until := f.way.until(x)
		switch {
		case until >= o.Call:
			return
		case refused.last == nil:
			refused.last = x
		}
		if f.way.rests(x, until) && f.way.leaves(x, until) >= o.Call {
			refused.rests = append(refused.rests, x.Hold)
		}
	}
	f.found = append(f.found, refused)
}

// granted drops the acquires that can have left no node behind, now that y was granted the
// lock: the node of another session's acquire stood ahead of y, and y waited until it was
// gone. That holds for a lock that excludes all others, and for an acquire that had enough
// time to create its node, as for wake-ups.
func (f *freeTries) granted(y *facts.Op) {
	h := y.Hold
	if !y.OK() || !y.Acquires() || !y.Recipe().Guards() || h == nil || h.Acquire != y || y.Reads() || y.Token.Sub != 0 || f.way.bound == 0 {
		return
	}
	users := f.locks.Of(y.Info())
	if users == nil {
		return
	}
	users.all = slices.DeleteFunc(users.all, func(x *facts.Op) bool {
		switch h := x.Hold; {
		case x == y, x.Done < 0 && !x.Gone:
			return false
		case h != nil && h.Acquire == x && (h.EndEvent < 0 || h.Released != facts.Forever && !x.ChangedSession()):
			return false // it has not left, or it is known when
		}
		return x.Session != "" && !x.Was(y.Session) && f.way.made(x) < y.Call
	})
}

// wrong returns the tries that had to succeed, when the history is known to its end.
func (f *freeTries) wrong() []func() verdict.Witness {
	var all []func() verdict.Witness
	for _, r := range f.found {
		if !slices.ContainsFunc(r.rests, func(h *facts.Hold) bool { return !f.t.Sessions.LivedOn(h) }) {
			all = append(all, func() verdict.Witness { return f.witness(r) })
		}
	}
	return all
}

func (f *freeTries) witness(r refusedTry) verdict.Witness {
	o, p := r.try, witness.OfOp(r.try)
	w := witness.New(f.t, o.Lock, o.Call, o.Ret, p)
	w.What = fmt.Sprintf("%v tried lock %q at %s and was refused at %s, when nobody held or wanted it", p, o.Lock, verdict.At(o.Call), verdict.At(o.Ret))
	if r.last != nil && r.last.Hold != nil {
		w.Parties = append(w.Parties, witness.OfHold(r.last.Hold))
		w.What += fmt.Sprintf(": %v, the last who had it, had given it back by %s", witness.OfHold(r.last.Hold), verdict.At(r.last.Hold.Released))
	}
	return w
}
