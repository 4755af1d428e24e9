package checker

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// link records that process p is told of a change of its lease's link.
func (r *run) link(ms, p, token int, what histories.Type) *run {
	return r.add(ms, histories.Event{Type: what, Process: p, Lock: "a", Token: tok(token), Session: session(p)})
}

// state records a state that the lease of process p reports, with the time to its deadline.
func (r *run) state(ms, p, token, left int, state string) *run {
	return r.ofLease(ms, p, token, histories.Saying{Left: in(left), State: state})
}

func TestALeaseSaysHowItStands(t *testing.T) {
	const held, suspended, lost, released = histories.StateHeld, histories.StateSuspended, histories.StateLost, histories.StateReleased
	holds := func(r *run) *run { return r.want(0, 1).got(1, 1, 1).tells(1, 1, 1, histories.ToldAcquired) }
	down := func(r *run) *run { return holds(r).link(2, 1, 1, histories.Suspended) }
	up := func(r *run) *run { return down(r).link(3, 1, 1, histories.Resumed) }
	later := func(r *run, ms int) { r.want(ms, 2) }
	answers(t, AnswersAreTrue, []known{
		{"it is held", func(r *run) { holds(r).state(3, 1, 1, 900, held) }, verdict.Holds},
		{"it is held after its deadline", func(r *run) { holds(r).state(3, 1, 1, 0, held) }, verdict.Violated},
		{"it is held and not valid", func(r *run) {
			holds(r).ofLease(3, 1, 1, histories.Saying{Valid: no, Left: in(900), State: held})
		}, verdict.Violated},
		{"it is lost after its deadline, before that is told", func(r *run) { holds(r).state(3, 1, 1, 0, lost) }, verdict.Holds},
		{"it is lost before its deadline", func(r *run) { holds(r).state(3, 1, 1, 900, lost) }, verdict.Violated},
		{"it is released while it is held", func(r *run) { holds(r).state(3, 1, 1, 900, released) }, verdict.Violated},
		{"it is released when it has been", func(r *run) { holds(r).release(3, 1).released(4, 1).state(6, 1, 1, 900, released) }, verdict.Holds},
		{"it is held when it has been released", func(r *run) { holds(r).release(3, 1).released(4, 1).state(6, 1, 1, 900, held) }, verdict.Violated},
		{"it is lost when it has been lost", func(r *run) { holds(r).lost(3, 1).state(6, 1, 1, 900, lost) }, verdict.Holds},
		{"it is released when it has been lost", func(r *run) { holds(r).lost(3, 1).state(6, 1, 1, 900, released) }, verdict.Violated},
		{"it is suspended while its link is down", func(r *run) { later(down(r).state(5, 1, 1, 900, suspended), 1500) }, verdict.Holds},
		{"it is held while its link is down", func(r *run) { later(down(r).state(5, 1, 1, 900, held), 1500) }, verdict.Violated},
		{"it is held, and that its link is back is told late", func(r *run) {
			later(down(r).state(5, 1, 1, 900, held).link(500, 1, 1, histories.Resumed), 1500)
		}, verdict.Holds},
		{"it is suspended when its link is back", func(r *run) { later(up(r).state(5, 1, 1, 900, suspended), 1500) }, verdict.Violated},
		{"it is suspended when it is asked, and that its link is back is told before its answer is recorded", func(r *run) {
			later(up(r).ofLease(5, 1, 1, histories.Saying{Asked: 3 * time.Millisecond, Left: in(900), State: suspended}), 1500)
		}, verdict.Holds},
		{"it is suspended, and that its link is down is told late", func(r *run) {
			later(up(r).state(5, 1, 1, 900, suspended).link(500, 1, 1, histories.Suspended), 1500)
		}, verdict.Holds},
		{"it is suspended, and ends", func(r *run) {
			later(up(r).state(5, 1, 1, 900, suspended).release(7, 1).released(8, 1), 1500)
		}, verdict.Holds},
	})
}

func TestAListenerIsToldOfEachChange(t *testing.T) {
	const connected, suspended, reconnected, lost, closed = histories.ConnectionConnected, histories.ConnectionSuspended, histories.ConnectionReconnected, histories.ConnectionLost, histories.ConnectionClosed
	told := func(states ...string) func(*run) {
		return func(r *run) {
			r.want(0, 1).got(1, 1, 1)
			for i, state := range states {
				r.h.Header.Promises.Says = true
				r.add(2+i, histories.Event{Type: histories.Says, Process: 1, Saying: &histories.Saying{Connection: state, Client: 1}})
			}
		}
	}
	answers(t, AnswersAreTrue, []known{
		{"from its first session to its end", told(connected, suspended, reconnected, suspended, lost, reconnected, lost, closed), verdict.Holds},
		{"first of a suspension", told(suspended), verdict.Violated},
		{"of its first session again", told(connected, lost, connected), verdict.Violated},
		{"of the same twice", told(connected, suspended, suspended), verdict.Violated},
		{"of a return from nowhere", told(connected, reconnected), verdict.Violated},
		{"of a suspension of what is lost", told(connected, lost, suspended), verdict.Violated},
		{"of something after its end", told(connected, closed, lost), verdict.Violated},
	})
}
