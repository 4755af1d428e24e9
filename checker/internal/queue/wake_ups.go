package queue

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// wakeUps finds waiters that were not woken: the first contender in the queue of a free lock
// must be granted it within the bound that the target promises. A lock that polls its queue
// recovers from a wake-up that it missed, but late: the bound shows it. A semaphore is free for
// a contender when it has room for the permits that the contender asks for: contenders that
// were granted theirs have left the queue, and their permits are out until they are released.
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
// All times are those of records. A release takes effect before its answer is recorded, and a
// contender has its place before it reports it, so the first contender was first from an
// earlier time on. A grant is recorded a moment after it was made. The method clear decides
// which time counts.
type wakeUps struct {
	t       *facts.Trace
	way     *inTheWay
	room    *room
	bound   time.Duration // 0: none is promised
	users   usersOf
	locks   facts.PerLock[lockLeft]
	resting map[string][]*facts.Op // ended by a release, by session: it is not known whether the session lived on
	gone    map[*facts.Op]bool     // holders that are known to have left the queue
	back    map[int]time.Duration  // by client: when its listener was told that it is connected again, while it is
	late    []*turn                // the turns that took longer than the bound, for any reason

	judged  int
	longest time.Duration // of the judged wake-ups

	standstill facts.Quiet // when no event shows that the machine ran, and that servers answered
	servers    map[int]histories.ServerState
	down       downServers
	spoilt     union // when a server did not serve, operations were slow without a fault, or nothing was recorded
}

// lockLeft holds the last departure of the acquires that are no longer among the users of one
// lock.
type lockLeft struct {
	at   time.Duration // when the last of them had left; forever if a departure is not known: then no turn is
	gave *facts.Hold   // the hold that it released then; nil if it left otherwise
}

func (l *lockLeft) with(at time.Duration, gave *facts.Hold) {
	if at > l.at {
		l.at, l.gave = at, gave
	}
}

func newWakeUps(t *facts.Trace, way *inTheWay) *wakeUps {
	return &wakeUps{
		t: t, way: way, resting: map[string][]*facts.Op{}, back: map[int]time.Duration{}, gone: map[*facts.Op]bool{}, room: &room{t: t, way: way}, bound: way.bound,
		standstill: facts.Quiet{Least: way.bound / 2}, servers: map[int]histories.ServerState{}, down: downServers{from: map[int]time.Duration{}},
	}
}

// within returns the time within which the turn of an acquire must come: the bound, or less in virtual time,
// where no machine is busy. Permits take more requests, one after the other.
func (w *wakeUps) within(o *facts.Op) time.Duration {
	if w.t.Service != nil && w.t.Service.Exact() && w.t.Header.Promises.Returns && !o.Recipe().HasPermits() {
		return min(w.bound, w.t.Header.SessionTimeout/4)
	}
	return w.bound
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
	users, _ := w.users.of(o.Info())
	if many, oldest := users.forget(w.t.End, func(x *facts.Op) time.Duration {
		until := w.leaves(x)
		if w.way.rests(x, until) && !w.t.Sessions.LivedOn(x.Hold) {
			until = w.way.leaves(x, until)
		}
		return until
	}); many {
		w.room.forget(o.Info(), oldest)
	}
	w.users.invoked(o)
}

// crashed records that an operation will not be answered.
func (w *wakeUps) crashed(o *facts.Op) {
	if w.bound > 0 {
		w.room.crashed(o)
	}
	if w.concerns(o) {
		w.users.crashed(o)
	}
}

// ended records that a hold has ended, unless it ended before its acquire was answered.
func (w *wakeUps) ended(h *facts.Hold) {
	users, several := w.users.of(h.Info())
	switch {
	case w.bound == 0 || !several || h.EndEvent == h.Acquire.Done:
	case w.gone[h.Acquire]:
		delete(w.gone, h.Acquire)
	default:
		users.ended(h)
	}
}

// completed judges an acquire that was answered, after its hold was updated.
func (w *wakeUps) completed(o *facts.Op) {
	if w.bound > 0 && o.Kind == histories.Release && o.OK() && o.Hold != nil && o.Hold.EndEvent == o.Invoke {
		w.answered(o, o.Ret)
	}
	if w.bound > 0 {
		w.lives(o.Session)
		w.room.completed(o)
	}
	if !w.concerns(o) {
		return
	}
	users, several := w.users.of(o.Info())
	if several {
		users.settle(w.rests)
		for _, p := range o.Places {
			users.reach(p)
		}
	}
	if turn := w.turnOf(o, users); turn != nil {
		switch waited := o.Ret - turn.from; {
		case waited > w.within(o) && (o.OK() || o.Kind == histories.Acquire):
			turn.rests = w.restsBefore(turn, users)
			w.late = append(w.late, turn)
		case waited <= w.within(o) && o.OK() && turn.gave != nil && w.clear(turn).Length() == max(0, waited):
			w.judged++
			w.longest = max(w.longest, waited)
		}
	}
	if !several {
		return
	}
	users.ends(o)
	if o.OK() && o.Again == nil {
		w.granted(o, users)
	}
}

// rests records that a release has ended an acquire.
func (w *wakeUps) rests(x *facts.Op) {
	if s := x.Hold.Session; !w.t.Sessions.LivedOn(x.Hold) {
		all := w.resting[s]
		i := len(all)
		for i > 0 && all[i-1].Hold.Released > x.Hold.Released { // they come nearly in that order
			i--
		}
		w.resting[s] = slices.Insert(all, i, x)
		return
	}
	users, _ := w.users.of(x.Info())
	users.ready = append(users.ready, x)
}

// lives records that a session may have been found to live on.
func (w *wakeUps) lives(session string) {
	resting := w.resting[session]
	if len(resting) == 0 {
		return
	}
	n := 0
	for ; n < len(resting) && w.t.Sessions.LivedOn(resting[n].Hold); n++ {
		users, _ := w.users.of(resting[n].Info())
		users.ready = append(users.ready, resting[n])
	}
	if resting = resting[n:]; len(resting) == 0 {
		delete(w.resting, session)
	} else {
		w.resting[session] = resting
	}
}

// granted drops the users that are known to have left, now that y has been granted the lock.
func (w *wakeUps) granted(y *facts.Op, users *users) {
	type drop struct {
		*facts.Op
		at   time.Duration
		gave *facts.Hold
	}
	var drops []drop
	mine, placed := y.LastPlace()
	placed = placed && y.Token.Sub == 0 && !y.Recipe().HasPermits() // else it has not waited for others, or not for their permits
	tell := func(x *facts.Op) fate {
		if x == y {
			return mayStay
		}
		if h := x.Hold; h != nil && h.Acquire != x {
			return hasLeft // a re-entry
		} else if until := w.way.until(x); h != nil && h.Released == until && w.t.Sessions.LivedOn(h) {
			drops = append(drops, drop{x, until, h})
			return hasLeft
		}
		if !placed {
			return mayStay
		}
		theirs, known := x.LastPlace()
		switch {
		case known && own(x) == nil && w.queuedAgain(x, theirs):
			return willStay
		case known && own(x) == nil && before(mine, theirs) && !hasMoved(x) && !numbered(x.Recipe()):
			return isBehind
		case y.Reads() && x.Reads():
			return mayStay
		case !known && x.Session != "" && x.Session != y.Session && w.way.made(x) < y.Call,
			known && theirs.Token.Less(mine.Token) && theirs.Session != "" && mine.Session != "" && theirs.Session != mine.Session:
			drops = append(drops, drop{x, y.Ret, nil})
			return hasLeft
		}
		return mayStay
	}
	left := func(x *facts.Op) bool { return tell(x) == hasLeft }
	if placed {
		users.dropOver(users.stay, tell)
	} else {
		users.dropOver(users.looked, tell)
	}
	users.fading = slices.DeleteFunc(users.fading, left)
	users.drop(left, users.ready)
	if users.ready = users.ready[:0]; placed {
		users.drop(left, slices.Concat(users.rested[0], users.rested[1]))
	}
	if placed && !users.alike(y) && users.held(y) || users.nameless > 0 {
		users.holders = slices.DeleteFunc(users.holders, func(x *facts.Op) bool {
			if x.Hold.EndEvent >= 0 {
				return true
			}
			if !left(x) {
				return false
			}
			users.without(x.Hold)
			w.gone[x] = true
			return true
		})
	}
	slices.SortFunc(drops, func(a, b drop) int { return a.Invoke - b.Invoke })
	of := w.locks.Make(y.Info(), func() *lockLeft { return new(lockLeft) })
	for _, d := range drops {
		of.with(d.at, d.gave)
	}
}

// queuedAgain reports whether an acquire that was granted nothing may have a node behind its last place:
// a fault had deleted the node of that place, or its session may have ended, and the record ends before
// the acquire was told of another place. The session was alive when the place was told, so without a forced
// expiry it did not end within a session timeout, less the twentieth by which clocks may differ.
func (w *wakeUps) queuedAgain(x *facts.Op, last facts.Place) bool {
	from, to := last.Time, answered(x)
	return own(x) == nil && (to-from >= w.t.Lifetime()*19/20 ||
		w.t.Faults.MayHaveDeleted(x.Lock, last.Token, last.Session, from, to, math.MaxInt) ||
		w.t.Faults.WasForced(last.Session, x.Process, from, to))
}

// lastPlace returns the last place that an acquire was told, if the order of its queue is on
// record: by tokens, or by numbers.
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

// leaves returns the time until which an acquire may be ahead of others; forever if that is not
// known yet.
func (w *wakeUps) leaves(x *facts.Op) time.Duration {
	soon := facts.After(x.Ret, w.bound/4)
	if x.Result == histories.Fail && x.By.Retired > soon && len(w.way.faultsOn(x.Process, x.Call, soon, w.bound/2)) == 0 {
		return soon
	}
	return w.way.until(x)
}

// missed returns the missed wake-ups, when the whole history is known.
func (w *wakeUps) missed() []func() verdict.Witness {
	var all []func() verdict.Witness
	for _, turn := range w.late {
		if slices.ContainsFunc(turn.rests, func(h *facts.Hold) bool { return !w.t.Sessions.LivedOn(h) }) {
			continue
		}
		if counts := w.clear(turn); counts.Length() > w.within(turn.Op) {
			all = append(all, func() verdict.Witness { return w.notWoken(turn, counts) })
		}
	}
	return all
}

func (w *wakeUps) notWoken(turn *turn, counts facts.Span) verdict.Witness {
	parties := []verdict.Party{judge.OpParty(turn.Op)}
	since, end := "", "was granted it"
	if h := turn.gave; h != nil {
		parties = append(parties, judge.HoldParty(h))
		since = fmt.Sprintf(", when %v had given it back", judge.HoldParty(h))
	}
	if !turn.OK() {
		end = "gave up"
	}
	of := fmt.Sprintf("lock %q", turn.Lock)
	if turn.Recipe().HasPermits() {
		of = fmt.Sprintf("semaphore %q, with room for %s,", turn.Lock, words.Count(turn.Permits, "permit"))
	}
	v := judge.NewWitness(w.t, turn.Lock, counts.From, counts.To, parties...)
	v.What = fmt.Sprintf("%v was the first in the queue of %s from %s on%s, had to be granted it within %s, and %s only at %s",
		parties[0], of, verdict.At(turn.from), since, verdict.Ms(w.within(turn.Op)), end, verdict.At(turn.Ret))
	return v
}
