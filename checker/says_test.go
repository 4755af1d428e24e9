package checker

import (
	"strconv"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// says records an answer to process p that was asked for a millisecond before.
func (r *run) says(ms, p int, e histories.Event, s histories.Saying) *run {
	r.h.Header.Promises.Says = true
	e.Type, e.Process, e.Lock = histories.Says, p, "a"
	if e.Session == "" {
		e.Session = session(p)
	}
	if s.Asked == 0 {
		s.Asked = time.Duration(ms-1) * time.Millisecond
	}
	e.Saying = &s
	return r.add(ms, e)
}

// ofLease records an answer of process p's lease with a token.
func (r *run) ofLease(ms, p, token int, s histories.Saying) *run {
	return r.says(ms, p, histories.Event{Token: tok(token), Depth: 1}, s)
}

func (r *run) tells(ms, p, token int, what string) *run {
	return r.says(ms, p, histories.Event{Token: tok(token)}, histories.Saying{Told: what})
}

func (r *run) queue(ms, p int, tokens ...int) *run {
	s := histories.Saying{Queue: []histories.Participant{}}
	for _, n := range tokens {
		s.Queue = append(s.Queue, histories.Participant{Token: tok(n)})
	}
	return r.says(ms, p, histories.Event{}, s)
}

var yes, no = new(bool), new(bool)

func init() { *yes = true }

// in returns the time to a deadline.
func in(ms int) *time.Duration {
	d := time.Duration(ms) * time.Millisecond
	return &d
}

// reader holds a lock to read, and its client answers whether it holds it in a mode.
func reader(r *run, mode histories.Mode, held *bool) {
	e := histories.Event{Mode: histories.ModeRead, Token: tok(1), Depth: 1, Session: session(1)}
	r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.ReadWrite}})
	r.both(0, histories.OK, 1, histories.Acquire, e)
	r.says(5, 1, histories.Event{Mode: mode}, histories.Saying{Held: held})
	r.both(9, histories.OK, 1, histories.Release, e)
}

func TestTheAnswersOfALeaseAreTrue(t *testing.T) {
	sound := histories.Saying{Valid: yes, Left: in(900), Depth: 1, Ended: no, Held: yes}
	answers(t, AnswersAreTrue, []known{
		{"a lease says that it is held", func(r *run) { r.want(0, 1).got(1, 1, 1).ofLease(3, 1, 1, sound).release(5, 1).released(6, 1) }, verdict.Holds},
		{"a lease of several locks is good for longer than one of them", func(r *run) {
			r.want(0, 1).got(1, 1, 1).ofLease(3, 1, 1, histories.Saying{Valid: yes, Left: in(900), Least: in(899)})
		}, verdict.Violated},
		{"a lease of several locks is good for as long as its parts", func(r *run) {
			r.want(0, 1).got(1, 1, 1).ofLease(3, 1, 1, histories.Saying{Valid: yes, Left: in(900), Least: in(900)})
		}, verdict.Holds},
		{"a lease is valid after its own deadline", func(r *run) { r.want(0, 1).got(1, 1, 1).ofLease(3, 1, 1, histories.Saying{Valid: yes, Left: in(0)}) }, verdict.Violated},
		{"a lease is not valid after its own deadline", func(r *run) { r.want(0, 1).got(1, 1, 1).ofLease(3, 1, 1, histories.Saying{Valid: no, Left: in(-5)}) }, verdict.Holds},
		{"a lease is valid when its loss has been told", func(r *run) { r.want(0, 1).got(1, 1, 1).lost(2, 1).ofLease(4, 1, 1, histories.Saying{Valid: yes}) }, verdict.Violated},
		{"a lease was asked before its loss was told, and was valid", func(r *run) {
			r.want(0, 1).got(1, 1, 1).lost(4, 1).ofLease(4, 1, 1, histories.Saying{Valid: yes})
		}, verdict.Holds},
		{"an outer lease has the depth of the inner one", func(r *run) {
			r.want(0, 1).got(1, 1, 1).want(2, 1).deeper(3, 1, 1, 2).ofLease(5, 1, 1, histories.Saying{Depth: 2})
		}, verdict.Violated},
		{"a context ends while the lease goes on", func(r *run) { r.want(0, 1).got(1, 1, 1).ofLease(3, 1, 1, histories.Saying{Ended: yes}) }, verdict.Violated},
		{"a context goes on after the loss", func(r *run) {
			r.want(0, 1).got(1, 1, 1).lost(2, 1).ofLease(300, 1, 1, histories.Saying{Asked: 3e6, Ended: no})
		}, verdict.Violated},
		{"a context goes on while its process stands still", func(r *run) {
			r.want(0, 1).got(1, 1, 1).lost(2, 1).stalled(3, 200).ofLease(300, 1, 1, histories.Saying{Asked: 250e6, Ended: no})
		}, verdict.Holds},
		{"a context goes on long after its process stood still", func(r *run) {
			r.want(0, 1).got(1, 1, 1).lost(2, 1).stalled(3, 200).ofLease(500, 1, 1, histories.Saying{Asked: 250e6, Ended: no})
		}, verdict.Violated},
		{"a context goes on while its process is paused", func(r *run) {
			r.want(0, 1).got(1, 1, 1).lost(2, 1).pause(3, 1).wake(200, 1).ofLease(300, 1, 1, histories.Saying{Asked: 250e6, Ended: no})
		}, verdict.Holds},
		{"a context goes on for a moment after the loss", func(r *run) {
			r.want(0, 1).got(1, 1, 1).lost(2, 1).ofLease(100, 1, 1, histories.Saying{Asked: 3e6, Ended: no})
		}, verdict.Holds},
		{"a node was created by another transaction than the token says", func(r *run) {
			r.want(0, 1).got(1, 1, 1).ofLease(3, 1, 1, histories.Saying{Node: "/n", Created: 2})
		}, verdict.Violated},
		{"a node was created by the token's transaction", func(r *run) {
			r.want(0, 1).got(1, 1, 1).ofLease(3, 1, 1, histories.Saying{Node: "/n", Created: 1})
		}, verdict.Holds},
		{"a client does not know that it holds", func(r *run) { r.want(0, 1).got(1, 1, 1).ofLease(3, 1, 1, histories.Saying{Held: no}) }, verdict.Violated},
		{"a client holds what it has given back", func(r *run) {
			r.cycle(0, 2, 1, 1).says(5, 1, histories.Event{}, histories.Saying{Held: yes})
		}, verdict.Violated},
		{"a client holds what another process of it holds", func(r *run) {
			r.cycle(0, 2, 1, 1).want(3, 2).op(3, histories.OK, 2, histories.Acquire, histories.Event{Token: tok(2), Depth: 1, Session: session(1)})
			r.says(5, 1, histories.Event{}, histories.Saying{Held: yes})
		}, verdict.Holds},
		{"a reader holds the lock to read, and says so", func(r *run) { reader(r, histories.ModeRead, yes) }, verdict.Holds},
		{"a reader says that it does not hold the lock to write", func(r *run) { reader(r, histories.ModeWrite, no) }, verdict.Holds},
		{"a reader says that it holds the lock to write", func(r *run) { reader(r, histories.ModeWrite, yes) }, verdict.Violated},
		{"a client was asked before it had given the lock back", func(r *run) {
			r.cycle(0, 2, 1, 1).says(5, 1, histories.Event{}, histories.Saying{Asked: 1e6, Held: yes})
		}, verdict.Holds},
	})
}

func TestADeadlineComesBeforeTheEndOfTheSession(t *testing.T) {
	told := func(r *run) *run {
		return r.want(0, 1).got(1, 1, 1).ofLease(500, 1, 1, histories.Saying{Valid: yes, Left: in(1500)})
	}
	unanswered := func(r *run) *run {
		return r.release(600, 1).op(700, histories.Info, 1, histories.Release, histories.Event{Depth: 1})
	}
	answers(t, AnswersAreTrue, []known{
		{"a session ends after the deadline", func(r *run) { told(r).lost(1900, 1).expired(2100, 1) }, verdict.Holds},
		{"a session ends before the deadline", func(r *run) { told(r).lost(1500, 1).expired(1800, 1) }, verdict.Violated},
		{"a session is expired by force before the deadline", func(r *run) { told(r).expire(1700, 1).expired(1800, 1).lost(1801, 1) }, verdict.Holds},
		{"a session is expired by force after the process that told the deadline", func(r *run) {
			// Its client goes on under another number, in the same session.
			unanswered(told(r)).endOf(1700, "s1", 2).expired(1800, 1)
		}, verdict.Holds},
		{"another session is expired by force", func(r *run) {
			unanswered(told(r)).endOf(1700, "s2", 2).expired(1800, 1)
		}, verdict.Violated},
		{"a session has ended when the deadline is told", func(r *run) {
			r.want(0, 1).got(1, 1, 1).expired(400, 1).ofLease(500, 1, 1, histories.Saying{Left: in(1500)})
		}, verdict.Violated},
	})
}

func TestAListOfAQueueHasWhoStandsInIt(t *testing.T) {
	two := func(r *run) *run { return r.want(0, 1).place(1, 1, 1).got(2, 1, 1).want(2, 2).place(3, 2, 2) }
	end := func(r *run) *run {
		return r.release(20, 1).released(21, 1).got(22, 2, 2).release(23, 2).released(24, 2)
	}
	answers(t, AnswersAreTrue, []known{
		{"both are listed", func(r *run) { end(two(r).queue(10, 3, 1, 2)) }, verdict.Holds},
		{"the holder is not listed", func(r *run) { end(two(r).queue(10, 3, 2)) }, verdict.Violated},
		{"the waiter is not listed", func(r *run) { end(two(r).queue(10, 3, 1)) }, verdict.Violated},
		{"no process is listed", func(r *run) { end(two(r).queue(10, 3)) }, verdict.Violated},
		{"the waiter is not listed, and never gets the lock", func(r *run) {
			two(r).queue(10, 3, 1).release(20, 1).released(21, 1).answer(22, histories.Fail, 2, histories.Acquire)
		}, verdict.Holds},
		{"the waiter came after the question", func(r *run) {
			end(two(r).says(10, 3, histories.Event{}, histories.Saying{Asked: 2e6, Queue: []histories.Participant{{Token: tok(1)}}}))
		}, verdict.Holds},
		{"the queue is out of order", func(r *run) { end(two(r).queue(10, 3, 2, 1)) }, verdict.Violated},
		{"one is listed who has left", func(r *run) { end(two(r)).want(25, 1).place(26, 1, 3).queue(30, 3, 1, 3) }, verdict.Violated},
		{"one is listed who has left, as is seen later", func(r *run) { end(two(r)).queue(30, 3, 1).want(35, 1).place(36, 1, 3) }, verdict.Violated},
		{"one is listed whose session a deposed leader had ended under its release", func(r *run) {
			end(two(r)).want(25, 1).queue(30, 3, 1).op(35, histories.OK, 1, histories.Acquire, histories.Event{Token: tok(3), Depth: 1, Session: "s9"}).expired(40, 1)
		}, verdict.Holds},
		{"the waiter is not listed, and its node was deleted by another client", func(r *run) {
			end(deletes(two(r), 5, 2).queue(10, 3, 1))
		}, verdict.Holds},
		{"the waiter is not listed, and the holder's node was deleted by another client", func(r *run) {
			end(deletes(two(r), 5, 1).queue(10, 3, 1))
		}, verdict.Violated},
		{"the waiter is not listed, and its node was deleted by another client later", func(r *run) {
			end(deletes(two(r).queue(10, 3, 1), 12, 2))
		}, verdict.Violated},
		{"the waiter is not listed, and its session was expired by force", func(r *run) {
			end(two(r).endOf(5, session(2), 2).queue(10, 3, 1))
		}, verdict.Holds},
		{"the holder is not listed, whose process wakes after its session has ended", func(r *run) {
			end(two(r).pause(4, 1).queue(10, 3, 2).wake(19, 1))
		}, verdict.Holds},
		{"the holder is not listed, whose process has just woken", func(r *run) {
			end(two(r).pause(4, 1).wake(5, 1).queue(10, 3, 2))
		}, verdict.Holds},
		{"the holder is not listed, and the process of the waiter is paused", func(r *run) {
			end(two(r).pause(4, 2).queue(10, 3, 2).wake(19, 2))
		}, verdict.Violated},
		{"the holder is not listed, whose process has woken long ago", func(r *run) {
			two(r).pause(4, 1).wake(5, 1).queue(400, 3, 2).release(420, 1).released(421, 1).got(422, 2, 2).release(423, 2).released(424, 2)
		}, verdict.Violated},
		{"one is listed who was about to leave", func(r *run) {
			end(two(r)).says(30, 3, histories.Event{}, histories.Saying{Asked: 20e6, Queue: []histories.Participant{{Token: tok(1)}}})
		}, verdict.Holds},
		{"one is listed with the session of another", func(r *run) {
			end(two(r).says(10, 3, histories.Event{}, histories.Saying{Queue: []histories.Participant{{Token: tok(1), Session: session(1)}, {Token: tok(2), Session: session(1)}}}))
		}, verdict.Violated},
	})
}

// deletes deletes the node with a token, as another client.
func deletes(r *run, ms, token int) *run {
	f := &histories.Fault{ID: 1, Name: histories.NodeDeletion, Targets: []string{"client"}, Processes: []int{token}, Params: map[string]string{"lock": "a", "token": strconv.Itoa(token)}}
	return r.add(ms, histories.Event{Type: histories.FaultStart, Process: -1, Fault: f}).
		add(ms, histories.Event{Type: histories.FaultStop, Process: -1, Fault: f})
}

func TestAGrantHasTheTokenOfItsPlace(t *testing.T) {
	answers(t, AnswersAreTrue, []known{
		{"a grant has the token of its place", func(r *run) { r.want(0, 1).place(1, 1, 1).got(2, 1, 1).ofLease(4, 1, 1, histories.Saying{Depth: 1}) }, verdict.Holds},
		{"a grant has the token of its last place", func(r *run) {
			r.want(0, 1).place(1, 1, 1).place(2, 1, 5).got(3, 1, 5).ofLease(5, 1, 5, histories.Saying{Depth: 1})
		}, verdict.Holds},
		{"a grant has the token of a place that was not told", func(r *run) {
			r.want(0, 1).place(1, 1, 1).got(2, 1, 5).ofLease(4, 1, 5, histories.Saying{Depth: 1})
		}, verdict.Violated},
	})
}

func TestObserversAreToldEachThingOnce(t *testing.T) {
	const acquired, lost, released = histories.ToldAcquired, histories.ToldLost, histories.ToldReleased
	first := func(r *run) *run { return r.tells(1, 2, 9, acquired).want(2, 1).got(3, 1, 1) }
	later := func(r *run) *run { return r.want(30, 1).got(31, 1, 2).tells(32, 1, 2, acquired) }
	answers(t, AnswersAreTrue, []known{
		{"an observer is told of a grant and its release", func(r *run) {
			later(first(r).tells(4, 1, 1, acquired).release(5, 1).released(6, 1).tells(7, 1, 1, released))
		}, verdict.Holds},
		{"an observer is told late", func(r *run) {
			later(first(r).release(5, 1).released(6, 1).tells(7, 1, 1, acquired).tells(7, 1, 1, released))
		}, verdict.Holds},
		{"an observer is told of a grant twice", func(r *run) { first(r).tells(4, 1, 1, acquired).tells(5, 1, 1, acquired) }, verdict.Violated},
		{"an observer is told of a loss and a release", func(r *run) {
			first(r).tells(4, 1, 1, acquired).lost(5, 1).tells(6, 1, 1, lost).tells(7, 1, 1, released)
		}, verdict.Violated},
		{"an observer is told that a lease was lost that was given back", func(r *run) {
			first(r).tells(4, 1, 1, acquired).release(5, 1).released(6, 1).tells(7, 1, 1, lost)
		}, verdict.Violated},
		{"an observer is told that a lease was given back that was lost", func(r *run) {
			first(r).tells(4, 1, 1, acquired).lost(5, 1).tells(7, 1, 1, released)
		}, verdict.Violated},
		{"an observer is never told of a loss", func(r *run) { later(first(r).tells(4, 1, 1, acquired).lost(5, 1)) }, verdict.Violated},
		{"an observer is never told of a grant", func(r *run) {
			later(first(r).release(5, 1).released(6, 1).tells(7, 1, 1, released))
		}, verdict.Violated},
		{"an observer is not told of a loss yet", func(r *run) { first(r).tells(4, 1, 1, acquired).lost(5, 1) }, verdict.Holds},
		{"an observer is told nothing of a process that crashes", func(r *run) { first(r).crash(5, 1).tells(40, 2, 3, acquired) }, verdict.Holds},
	})
}

func TestALockThatPromisesNothingOfWhatItSaysIsNotHeldToIt(t *testing.T) {
	r := newRun(t).want(0, 1).got(1, 1, 1).ofLease(3, 1, 1, histories.Saying{Depth: 2})
	r.h.Header.Promises.Says = false
	if v := r.report().Verdict(AnswersAreTrue); v.Promised || v.Outcome == verdict.Violated {
		t.Error(v)
	}
}

func TestTokensFollowTheOrderOfHolds(t *testing.T) {
	answers(t, Fencing, []known{
		{"two ask at the same time, and the second to hold has the older token", func(r *run) {
			r.want(0, 1).want(0, 2).got(1, 1, 5).release(2, 1).released(3, 1).got(4, 2, 4).release(5, 2).released(6, 2)
		}, verdict.Violated},
		{"two ask at the same time, and the second to hold is not known to have held to the end", func(r *run) {
			r.want(0, 1).want(0, 2).got(1, 1, 5).release(2, 1).released(3, 1).got(4, 2, 4).lost(5, 2)
		}, verdict.Holds},
		{"a writer asks before another downgrades, and has an older token than that one's reader", func(r *run) {
			e := func(mode histories.Mode, token int) histories.Event {
				return histories.Event{Mode: mode, Token: tok(token), Depth: 1, Session: "s"}
			}
			r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.ReadWrite}})
			r.both(0, histories.OK, 1, histories.Acquire, e(histories.ModeWrite, 1)).op(1, histories.Invoke, 2, histories.Acquire, e(histories.ModeWrite, 0))
			r.both(2, histories.OK, 1, histories.Acquire, e(histories.ModeRead, 3)).both(3, histories.OK, 1, histories.Release, e(histories.ModeWrite, 1))
			r.both(4, histories.OK, 1, histories.Release, e(histories.ModeRead, 3))
			r.op(5, histories.OK, 2, histories.Acquire, e(histories.ModeWrite, 2)).both(6, histories.OK, 2, histories.Release, e(histories.ModeWrite, 2))
		}, verdict.Violated},
	})
}
