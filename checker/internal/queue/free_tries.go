package queue

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// freeTries finds tries that were refused although the lock was certainly free: every other
// process that asked for the lock before the try returned had released it before the try was
// called, in a release that was answered, or by closing its client while no fault was in force.
//
// A try may be refused because of a node that another process left behind, for the time that
// inTheWay gives, or until a later contender is granted the lock.
type freeTries struct {
	t     *facts.Trace
	way   *inTheWay
	users usersOf
	found []refusedTry
}

// refusedTry is a try that was refused although no other process was in its way.
type refusedTry struct {
	try   *facts.Op
	last  *facts.Op     // the last other acquire, which had left before
	rests []*facts.Hold // recent releases: whether their nodes are gone is known when their sessions have lived on
}

func newFreeTries(t *facts.Trace, way *inTheWay) *freeTries {
	return &freeTries{t: t, way: way}
}

// concerns reports whether o asks for a lock on which a try may have to succeed.
func (f *freeTries) concerns(o *facts.Op) bool {
	return o.Acquires() && (o.Recipe().Guards() || o.Recipe() == histories.Semaphore)
}

func (f *freeTries) invoked(o *facts.Op) {
	if f.concerns(o) {
		users, _ := f.users.of(o.Info())
		users.forget(f.t.End, f.way.until)
		f.users.invoked(o)
	}
}

func (f *freeTries) crashed(o *facts.Op) {
	if f.concerns(o) {
		f.users.crashed(o)
	}
}

func (f *freeTries) ended(h *facts.Hold) {
	if users, several := f.users.of(h.Info()); several && f.concerns(h.Acquire) && h.EndEvent != h.Acquire.Done {
		users.ended(h)
	}
}

// completed judges a try that was refused, and records the result of an acquire.
func (f *freeTries) completed(o *facts.Op) {
	if !f.concerns(o) {
		return
	}
	users, several := f.users.of(o.Info())
	if o.Refused && o.Parts == 0 && !o.ChangedSession() && o.Permits <= max(f.t.Header.Locks[o.Lock].Size, 1) { // a semaphore never has more permits
		if refused, wrong := f.judge(o, users); wrong {
			f.found = append(f.found, refused)
		}
	}
	if several {
		users.ends(o)
		f.granted(o, users)
	}
}

func (f *freeTries) judge(o *facts.Op, users *users) (refusedTry, bool) {
	refused := refusedTry{try: o}
	if users.waiting > 1 || users.holding[0]+users.holding[1] > 0 {
		return refused, false
	}
	for _, some := range [][]*facts.Op{users.rested[0], users.rested[1], users.fading, users.over} {
		for _, x := range slices.Backward(some) {
			until := f.way.until(x)
			if until >= o.Call {
				return refused, false
			}
			if refused.last == nil || x.Invoke > refused.last.Invoke || x.Invoke == refused.last.Invoke && x.Part > refused.last.Part {
				refused.last = x
			}
			if f.way.rests(x, until) && f.way.leaves(x, until) >= o.Call {
				refused.rests = append(refused.rests, x.Hold)
			}
		}
	}
	return refused, true
}

// granted drops the acquires that can have left no node behind, now that y was granted the
// lock: the node of another session's acquire stood ahead of y, and y waited until it was gone.
// That holds for a lock that excludes all others, and for an acquire that had enough time to
// create its node, as for wake-ups. The departures of acquires that rest are known.
func (f *freeTries) granted(y *facts.Op, users *users) {
	if h := own(y); !y.OK() || !y.Recipe().Guards() || h == nil || y.Reads() || y.Token.Sub != 0 || f.way.bound == 0 {
		return
	}
	users.settle(func(*facts.Op) {})
	first := users.soonest
	if users.lookedIn == y.Session {
		first = users.others
	}
	if facts.After(first, f.way.bound/4) >= y.Call {
		return
	}
	users.soonest, users.others, users.lookedIn = facts.Forever, facts.Forever, y.Session
	left := func(x *facts.Op) bool {
		if x != y && x.Session != "" && !x.Was(y.Session) && f.way.made(x) < y.Call {
			return true
		}
		users.counts(x)
		return false
	}
	users.over, users.fading = slices.DeleteFunc(users.over, left), slices.DeleteFunc(users.fading, left)
}

// wrong returns the refused tries that had to succeed, when the whole history is known.
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
	o, p := r.try, judge.OpParty(r.try)
	w := judge.NewWitness(f.t, o.Lock, o.Call, o.Ret, p)
	w.What = fmt.Sprintf("%v tried lock %q at %s and was refused at %s, when no other process held or wanted it", p, o.Lock, verdict.At(o.Call), verdict.At(o.Ret))
	if r.last != nil && r.last.Hold != nil {
		w.Parties = append(w.Parties, judge.HoldParty(r.last.Hold))
		w.What += fmt.Sprintf(": %v, the last who had it, had given it back by %s", judge.HoldParty(r.last.Hold), verdict.At(r.last.Hold.Released))
	}
	return w
}
