package queue

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/witness"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// wakeUps finds waiters that were not woken: the first contender in the queue of a free
// lock must be granted it within the bound that the target promises. A lock that polls its
// queue recovers from a wake-up that it missed, but late: the bound shows it. A semaphore is
// free for a contender when it has room for the permits that the contender asks for: those who
// were granted theirs have left the queue, and what they have is out until they give it back.
//
// Only these can be ahead of a contender that knows its place:
//   - the holder, until a release of it was answered. A holder that lost the lock or
//     crashed may leave its node behind for a while, see inTheWay;
//   - a contender that waits with an earlier place, or with an unknown one;
//   - a contender that gave up. Its node is gone a quarter of the bound later, unless a
//     fault has hit it or its process has crashed by then: then its node may stay as long
//     as that of a contender that crashed.
//
// A grant shows that all nodes before its own are gone, except those of its own session: a
// contender does not wait for nodes that its own session is deleting. A reader waits only
// for writers, and shows nothing of other readers.
//
// All times are those of records. A release takes effect before its answer is recorded,
// and a contender has its place before it reports it, so the first contender was first
// from an earlier time on. A grant is recorded a moment after it was made. The method
// clear says which time counts.
type wakeUps struct {
	t     *facts.Trace
	way   *inTheWay
	room  *room
	bound time.Duration // 0: none is promised
	locks facts.PerLock[lockUsers]
	late  []*turn // of those who were first for longer than the bound, whatever the reason

	judged  int
	longest time.Duration // of these

	standstill facts.Quiet // when nothing shows that the machine ran, and that servers answered
	servers    map[int]histories.ServerState
	down       []facts.Span // when a server was not found to serve
	downNow    map[int]int  // of the servers that do not serve now, where in down that is, by id
	slow       []facts.Span // when operations were slow with no fault about
}

// lockUsers are those who may be ahead of somebody in the queue of one lock.
type lockUsers struct {
	all  []*facts.Op
	kept int           // how many of them there were when they were last gone through
	left time.Duration // when the last of those who are among them no more had left
	gave *facts.Hold   // that it gave back then; nil if it did something else
}

// turn is an acquire that was first in its queue.
type turn struct {
	*facts.Op
	told time.Duration // its place
	from time.Duration // since then it was first
	gave *facts.Hold   // whose release made it the first; nil if it was none

	rests []*facts.Hold // given back, whose sessions are not known to have gone on: see LivedOn
}

func newWakeUps(t *facts.Trace, way *inTheWay) *wakeUps {
	return &wakeUps{
		t: t, way: way, room: &room{t, way, map[string][]size{}}, bound: way.bound,
		standstill: facts.Quiet{Least: way.bound / 2}, servers: map[int]histories.ServerState{}, downNow: map[int]int{},
	}
}

// concerns reports whether o asks for a lock that has a queue.
func (w *wakeUps) concerns(o *facts.Op) bool { return w.bound > 0 && o.Acquires() }

// numbered reports whether the places of a lock have numbers and no tokens: it is a semaphore,
// or made of one.
func numbered(r histories.Recipe) bool { return r.HasPermits() || r == histories.NonReentrant }

func (w *wakeUps) invoked(o *facts.Op) {
	if w.bound > 0 {
		w.room.invoked(o)
	}
	if !w.concerns(o) {
		return
	}
	users := w.locks.Make(o.Info(), func() *lockUsers { return &lockUsers{} })
	if len(users.all) > 2*users.kept+256 {
		w.forget(o.Lock, users)
	}
	users.all = append(users.all, o)
}

// forget drops those who have left before anybody came who is still waiting.
func (w *wakeUps) forget(lock string, users *lockUsers) {
	oldest := w.t.End
	for _, x := range users.all {
		if x.Done < 0 && !x.Gone {
			oldest = min(oldest, x.Call)
		}
	}
	users.all = slices.DeleteFunc(users.all, func(x *facts.Op) bool {
		until := w.leaves(x)
		if w.way.rests(x, until) && !w.t.Sessions.LivedOn(x.Hold) {
			until = w.way.leaves(x, until)
		}
		return until < oldest
	})
	users.kept = len(users.all)
	w.room.forget(lock, oldest)
}

// completed judges an acquire that was answered, when holds know of it.
func (w *wakeUps) completed(o *facts.Op) {
	if w.bound > 0 && o.Kind == histories.Release && o.OK() && o.Hold != nil && o.Hold.EndEvent == o.Invoke {
		w.answered(o, o.Ret)
	}
	if w.bound > 0 {
		w.room.completed(o)
	}
	if !w.concerns(o) {
		return
	}
	users := w.locks.Of(o.Info())
	if turn := w.turnOf(o, users); turn != nil {
		switch waited := o.Ret - turn.from; {
		case waited > w.bound && (o.OK() || o.Kind == histories.Acquire):
			w.late = append(w.late, turn)
		case waited <= w.bound && o.OK() && turn.gave != nil && w.clear(turn).Length() == max(0, waited):
			w.judged++
			w.longest = max(w.longest, waited)
		}
	}
	if o.OK() && o.Again == nil {
		w.granted(o, users)
	}
}

// granted drops those who are known to have left, now that y has been granted the lock.
func (w *wakeUps) granted(y *facts.Op, users *lockUsers) {
	left := func(at time.Duration, gave *facts.Hold) bool {
		if at > users.left {
			users.left, users.gave = at, gave
		}
		return true
	}
	mine, placed := y.LastPlace()
	users.all = slices.DeleteFunc(users.all, func(x *facts.Op) bool {
		if x == y || x.Done < 0 && !x.Gone {
			return false
		}
		if h := x.Hold; h != nil && h.Acquire != x {
			return true // a re-entry
		} else if until := w.way.until(x); h != nil && h.Released == until && w.t.Sessions.LivedOn(h) {
			return left(until, h)
		}
		if !placed || y.Token.Sub != 0 || y.Reads() && x.Reads() || y.Recipe().HasPermits() {
			return false // y has not waited for it, or not for what it may have taken
		}
		theirs, known := x.LastPlace()
		switch {
		case !known && x.Session != "" && x.Session != y.Session && w.way.made(x) < y.Call,
			known && theirs.Token.Less(mine.Token) && theirs.Session != "" && mine.Session != "" && theirs.Session != mine.Session:
			return left(y.Ret, nil)
		}
		return false
	})
}

// turnOf returns since when an acquire that has come to its end was the first in its
// queue, nil if that is not known.
func (w *wakeUps) turnOf(o *facts.Op, users *lockUsers) *turn {
	if _, placed := lastPlace(o); !placed || o.Parts > 0 {
		return nil
	}
	mine := contender(w.t, o).Place // as it was told first
	if sessionEnded(w.t, mine.Session, o) {
		return nil
	}
	turn := &turn{Op: o, told: mine.Time, from: mine.Time}
	left := func(at time.Duration, gave *facts.Hold) {
		if at > turn.from {
			turn.from, turn.gave = at, gave
		}
	}
	left(users.left, users.gave)
	permits := o.Recipe().HasPermits()
	renumbered := numbered(o.Recipe()) && users.renumbered(o, mine)
	var had []taken
	for _, x := range users.all {
		if x == o || x.Reads() && o.Reads() {
			continue
		}
		if h := x.Hold; h != nil && h.Acquire == x {
			had = append(had, taken{h, w.leaves(x)})
			if permits {
				left(x.Ret, nil) // the queue
			} else {
				left(w.leaves(x), h)
			}
			continue
		}
		theirs, known := lastPlace(x)
		behind := known && before(mine, theirs) || !known && x.Call > mine.Time
		if numbered(o.Recipe()) {
			behind = known && before(mine, theirs) && x.Ret > mine.Time && !renumbered || x.Call > mine.Time
		}
		switch {
		case !behind:
			left(w.leaves(x), nil)
		case known && x.Places[0].Token != theirs.Token || numbered(o.Recipe()) && len(x.Places) > 1:
			left(theirs.Time, nil) // the place that it had before is no more
		}
	}
	if permits {
		left(w.room.since(o, turn.from, had))
	}
	if turn.from == facts.Forever {
		return nil
	}
	for _, p := range had {
		if p.until <= turn.from && w.way.rests(p.by.Acquire, p.until) && w.way.leaves(p.by.Acquire, p.until) > mine.Time {
			turn.rests = append(turn.rests, p.by)
		}
	}
	if h := turn.gave; h != nil && h.Released != turn.from {
		turn.gave = nil
	}
	return turn
}

// renumbered reports whether the numbers of the places have begun anew just before o, as they
// do when all have left the queue: somebody had been told a number that is not less, before o was
// called. He may have what he waited for, and not know it yet, so nobody is behind o for
// his number.
func (u *lockUsers) renumbered(o *facts.Op, mine facts.Place) bool {
	return slices.ContainsFunc(u.all, func(x *facts.Op) bool {
		theirs, known := lastPlace(x)
		return x != o && known && theirs.Time < o.Call && theirs.Sequence >= mine.Sequence
	})
}

// lastPlace returns the last place that an acquire was told, if its queue has an order that is
// on record: that of the tokens, or of the numbers.
func lastPlace(o *facts.Op) (facts.Place, bool) {
	if numbered(o.Recipe()) && len(o.Places) > 0 {
		return o.Places[len(o.Places)-1], true
	}
	return o.LastPlace()
}

// before reports whether a place is ahead of another one in one queue.
func before(a, b facts.Place) bool {
	if a.Token == b.Token {
		return a.Sequence < b.Sequence
	}
	return a.Token.Less(b.Token)
}

// leaves returns until when an acquire may be ahead of others; forever if that is not
// known yet.
func (w *wakeUps) leaves(x *facts.Op) time.Duration {
	soon := facts.After(x.Ret, w.bound/4)
	if x.Result == histories.Fail && x.By.Retired > soon && len(w.way.faultsOn(x.Process, x.Call, soon, w.bound/2)) == 0 {
		return soon
	}
	return w.way.until(x)
}

// missed returns the wake-ups that were missed, when the history is known to its end.
func (w *wakeUps) missed() []func() verdict.Witness {
	var all []func() verdict.Witness
	for _, turn := range w.late {
		if slices.ContainsFunc(turn.rests, func(h *facts.Hold) bool { return !w.t.Sessions.LivedOn(h) }) {
			continue
		}
		if counts := w.clear(turn); counts.Length() > w.bound {
			all = append(all, func() verdict.Witness { return w.notWoken(turn, counts) })
		}
	}
	return all
}

func (w *wakeUps) notWoken(turn *turn, counts facts.Span) verdict.Witness {
	parties := []verdict.Party{witness.OfOp(turn.Op)}
	since, end := "", "was granted it"
	if h := turn.gave; h != nil {
		parties = append(parties, witness.OfHold(h))
		since = fmt.Sprintf(", when %v had given it back", witness.OfHold(h))
	}
	if !turn.OK() {
		end = "gave up"
	}
	of := fmt.Sprintf("lock %q", turn.Lock)
	if turn.Recipe().HasPermits() {
		of = fmt.Sprintf("semaphore %q, with room for %s,", turn.Lock, words.Count(turn.Permits, "permit"))
	}
	v := witness.New(w.t, turn.Lock, counts.From, counts.To, parties...)
	v.What = fmt.Sprintf("%v was the first in the queue of %s from %s on%s, had to be granted it within %s, and %s only at %s",
		parties[0], of, verdict.At(turn.from), since, verdict.Ms(w.bound), end, verdict.At(turn.Ret))
	return v
}
