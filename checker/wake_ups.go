package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// wakeUps finds waiters that were not woken: who is first in the queue of a lock that
// nobody has must be granted it within the bound that the target promises. A lock
// that looks at its queue again once in a while, whatever its watches say, survives a
// wake-up that it has missed; it shows in how long that takes.
//
// Who is first? Nobody is ahead of a contender that knows its place but
//   - who was granted the lock, until it has given it back in a release that was
//     answered; who lost it, or crashed, may have left a node behind for a while, as
//     for the tries of a free lock;
//   - who waits with a place before it, or with one that is not known;
//   - who gave up: a quarter of the bound later its node is gone, if no fault has hit it
//     and its process has not crashed by then, and else it may be there for as long as
//     that of one who crashed.
//
// A grant shows that all nodes before its own are gone, unless they are of the same
// session: who knows that they are being deleted does not wait for them. A reader waits
// for writers alone, and shows nothing of other readers.
//
// All instants are those of records. A release has taken effect before it was
// answered, and a place was taken before it was told: who was first was so from earlier on.
// A grant is on record a moment after it was given. Which time counts: see clear.
type wakeUps struct {
	t     *trace
	way   *inTheWay
	bound time.Duration // 0: none is promised
	locks map[string]*lockUsers
	late  []*turn // of those who were first for longer than the bound, whatever the reason

	judged  int
	longest time.Duration // of these

	standstill quiet // when nothing shows that the machine ran, and that servers answered
	servers    map[int]histories.ServerState
	down       []downSpan
	slow       []span // when operations were slow with no fault about
}

// lockUsers are those who may be ahead of somebody in the queue of one lock.
type lockUsers struct {
	all  []*op
	kept int           // how many of them there were when they were last gone through
	left time.Duration // when the last of those who are among them no more had left
	gave *hold         // that it gave back then; nil if it did something else
}

// turn is an acquire that was first in its queue.
type turn struct {
	*op
	told time.Duration // its place
	from time.Duration // since then it was first
	gave *hold         // whose release made it the first; nil if it was none

	rests []*hold // given back, whose sessions are not known to have gone on: see livedOn
}

func newWakeUps(t *trace, way *inTheWay) *wakeUps {
	return &wakeUps{t: t, way: way, bound: way.bound, locks: map[string]*lockUsers{}, standstill: quiet{least: way.bound / 2}, servers: map[int]histories.ServerState{}}
}

// concerns reports whether o asks for a lock whose places have tokens.
func (w *wakeUps) concerns(o *op) bool {
	r := o.recipe()
	return w.bound > 0 && o.acquires() && (r.Exclusive() && r != histories.NonReentrant || r == histories.ReadWrite)
}

func (w *wakeUps) invoked(o *op) {
	if !w.concerns(o) {
		return
	}
	users := w.locks[o.lock]
	if users == nil {
		users = &lockUsers{}
		w.locks[o.lock] = users
	}
	if len(users.all) > 2*users.kept+256 {
		w.forget(users)
	}
	users.all = append(users.all, o)
}

// forget drops those who have left before anybody came who is still waiting.
func (w *wakeUps) forget(users *lockUsers) {
	oldest := w.t.end
	for _, x := range users.all {
		if x.done < 0 && !x.gone {
			oldest = min(oldest, x.call)
		}
	}
	users.all = slices.DeleteFunc(users.all, func(x *op) bool {
		until := w.leaves(x)
		if w.way.rests(x, until) && !w.t.sessions.livedOn(x.hold) {
			until = w.way.leaves(x, until)
		}
		return until < oldest
	})
	users.kept = len(users.all)
}

// completed judges an acquire that was answered, when holds know of it.
func (w *wakeUps) completed(o *op) {
	if w.bound > 0 && o.kind == histories.Release && o.ok() && o.hold != nil && o.hold.endEvent == o.invoke {
		w.answered(o, o.ret)
	}
	if !w.concerns(o) {
		return
	}
	users := w.locks[o.lock]
	if turn := w.turnOf(o, users); turn != nil {
		switch waited := o.ret - turn.from; {
		case waited > w.bound && (o.ok() || o.kind == histories.Acquire):
			w.late = append(w.late, turn)
		case waited <= w.bound && o.ok() && turn.gave != nil && w.clear(turn).length() == max(0, waited):
			w.judged++
			w.longest = max(w.longest, waited)
		}
	}
	if o.ok() && o.again == nil {
		w.granted(o, users)
	}
}

// granted drops those who are known to have left, now that y has been granted the lock.
func (w *wakeUps) granted(y *op, users *lockUsers) {
	left := func(at time.Duration, gave *hold) bool {
		if at > users.left {
			users.left, users.gave = at, gave
		}
		return true
	}
	mine, placed := y.lastPlace()
	users.all = slices.DeleteFunc(users.all, func(x *op) bool {
		if x == y || x.done < 0 && !x.gone {
			return false
		}
		if h := x.hold; h != nil && h.acquire != x {
			return true // a re-entry
		} else if until := w.way.until(x); h != nil && h.released == until && w.t.sessions.livedOn(h) {
			return left(until, h)
		}
		if !placed || y.token.Sub != 0 || y.reads() && x.reads() {
			return false // y has not waited for it
		}
		theirs, known := x.lastPlace()
		switch {
		case !known && x.session != "" && x.session != y.session && w.way.made(x) < y.call,
			known && theirs.token.Less(mine.token) && theirs.session != "" && mine.session != "" && theirs.session != mine.session:
			return left(y.ret, nil)
		}
		return false
	})
}

// turnOf returns since when an acquire that has come to its end was the first in its
// queue, nil if that is not known.
func (w *wakeUps) turnOf(o *op, users *lockUsers) *turn {
	if _, placed := o.lastPlace(); !placed || o.parts > 0 {
		return nil
	}
	mine := w.t.contender(o).place // as it was told first
	if w.t.sessionEnded(mine.session, o) {
		return nil
	}
	turn := &turn{op: o, told: mine.time, from: mine.time}
	left := func(at time.Duration, gave *hold) {
		if at > turn.from {
			turn.from, turn.gave = at, gave
		}
	}
	left(users.left, users.gave)
	for _, x := range users.all {
		if x == o || x.reads() && o.reads() {
			continue
		}
		if h := x.hold; h != nil && h.acquire == x {
			until := w.leaves(x)
			if left(until, h); w.way.rests(x, until) && w.way.leaves(x, until) > mine.time {
				turn.rests = append(turn.rests, h)
			}
			continue
		}
		theirs, known := x.lastPlace()
		switch behind := known && mine.token.Less(theirs.token) || !known && x.call > mine.time; {
		case !behind:
			left(w.leaves(x), nil)
		case known && x.places[0].token != theirs.token:
			left(theirs.time, nil) // the place that it had before is no more
		}
	}
	if turn.from == forever {
		return nil
	}
	if h := turn.gave; h != nil && h.released != turn.from {
		turn.gave = nil
	}
	return turn
}

// leaves returns until when an acquire may be ahead of others; forever if that is not
// known yet.
func (w *wakeUps) leaves(x *op) time.Duration {
	soon := after(x.ret, w.bound/4)
	if x.result == histories.Fail && x.by.retired > soon && len(w.way.faultsOn(x.process, x.call, soon, w.bound/2)) == 0 {
		return soon
	}
	return w.way.until(x)
}

// missed returns the wake-ups that were missed, when the history is known to its end.
func (w *wakeUps) missed() []func() Witness {
	var all []func() Witness
	for _, turn := range w.late {
		if slices.ContainsFunc(turn.rests, func(h *hold) bool { return !w.t.sessions.livedOn(h) }) {
			continue
		}
		if counts := w.clear(turn); counts.length() > w.bound {
			all = append(all, func() Witness { return w.notWoken(turn, counts) })
		}
	}
	return all
}

func (w *wakeUps) notWoken(turn *turn, counts span) Witness {
	parties := []Party{turn.party()}
	since, end := "", "was granted it"
	if h := turn.gave; h != nil {
		parties = append(parties, h.party())
		since = fmt.Sprintf(", when %v had given it back", h.party())
	}
	if !turn.ok() {
		end = "gave up"
	}
	v := w.t.newWitness(turn.lock, counts.from, counts.to, parties...)
	v.What = fmt.Sprintf("%v was the first in the queue of lock %q from %s on%s, had to be granted it within %s, and %s only at %s",
		parties[0], turn.lock, at(turn.from), since, ms(w.bound), end, at(turn.ret))
	return v
}
