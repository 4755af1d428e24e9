package checker

import (
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// sees makes a client observe the leader, within one millisecond; there is none if the token is
// 0.
func (r *run) sees(ms, p, token int) *run {
	r.op(ms, histories.Invoke, p, histories.Observe, histories.Event{})
	return r.op(ms, histories.OK, p, histories.Observe, histories.Event{Token: tok(token)})
}

// seesOwner makes a client observe a leader and its announcement.
func (r *run) seesOwner(ms, p, token int, owner string) *run {
	r.op(ms, histories.Invoke, p, histories.Observe, histories.Event{})
	return r.op(ms, histories.OK, p, histories.Observe, histories.Event{Token: tok(token), Owner: owner})
}

// leads makes a client campaign for an owner, and lead in a term.
func (r *run) leads(ms, p, token int, owner string) *run {
	r.op(ms, histories.Invoke, p, histories.Acquire, histories.Event{Owner: owner})
	r.op(ms+1, histories.OK, p, histories.Acquire, histories.Event{Owner: owner, Token: tok(token), Session: session(p)})
	return r.op(ms+2, histories.Invoke, p, histories.Release, histories.Event{Owner: owner, Token: tok(token), Session: session(p), Depth: 1})
}

func TestObserversSeeTermsInOrder(t *testing.T) {
	election := func(make func(*run)) func(*run) {
		return func(r *run) {
			r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.Election}, "b": {Recipe: histories.Election}})
			make(r)
		}
	}
	says := func(make func(*run)) func(*run) {
		return election(func(r *run) {
			r.h.Header.Promises.Says = true
			make(r)
		})
	}
	answers(t, Observers, []known{
		{"leaders are seen in the order of their terms", election(func(r *run) { r.sees(1, 1, 1).sees(2, 1, 0).sees(3, 1, 4).sees(4, 1, 6) }), verdict.Holds},
		{"an older leader is seen after a newer one", election(func(r *run) { r.sees(1, 1, 1).sees(2, 1, 4).sees(3, 1, 1) }), verdict.Violated},
		{"an older leader is seen when none led after a newer one", election(func(r *run) { r.sees(1, 1, 4).sees(2, 1, 0).sees(3, 1, 1) }), verdict.Violated},
		{"a leader is seen again when none led after it", election(func(r *run) { r.sees(1, 1, 4).sees(2, 1, 0).sees(3, 1, 4) }), verdict.Violated},
		{"a leader is seen again by another observation", election(func(r *run) { r.sees(1, 1, 4).sees(2, 1, 4) }), verdict.Holds},
		{"another client sees an older leader", election(func(r *run) { r.sees(1, 1, 4).sees(2, 2, 1) }), verdict.Holds},
		{"an older leader of another election is seen", election(func(r *run) {
			r.sees(1, 1, 4)
			r.op(2, histories.Invoke, 1, histories.Observe, histories.Event{Lock: "b"}).op(2, histories.OK, 1, histories.Observe, histories.Event{Lock: "b", Token: tok(1)})
		}), verdict.Holds},
		{"an observation that fails sees nothing", election(func(r *run) {
			r.sees(1, 1, 4).op(2, histories.Invoke, 1, histories.Observe, histories.Event{}).op(3, histories.Fail, 1, histories.Observe, histories.Event{})
		}), verdict.Holds},
		{"a leader's announcement is seen", election(func(r *run) { r.leads(1, 1, 1, "p1").seesOwner(4, 2, 1, "p1") }), verdict.Holds},
		{"the announcement of another is seen", says(func(r *run) { r.leads(1, 1, 1, "p1").seesOwner(4, 2, 1, "p3") }), verdict.Violated},
		{"the announcement of another is seen before the leader knows that it leads", says(func(r *run) { r.seesOwner(1, 2, 1, "p3").leads(2, 1, 1, "p1") }), verdict.Violated},
		{"a request hides the announcement", election(func(r *run) { r.seesOwner(1, 2, 1, "p1").seesOwner(2, 2, 1, histories.NoOwner) }), verdict.Violated},
		{"two clients see different announcements", election(func(r *run) { r.seesOwner(1, 2, 1, "p1").seesOwner(2, 3, 1, "p3") }), verdict.Violated},
		{"the next leader announces itself", election(func(r *run) { r.leads(1, 1, 1, "p1").seesOwner(4, 2, 1, "p1").seesOwner(5, 2, 4, "p3") }), verdict.Holds},
		{"the target shows no announcements", election(func(r *run) { r.leads(1, 1, 1, "p1").sees(4, 2, 1) }), verdict.Holds},
		{"no leader is seen", election(func(r *run) { r.sees(1, 1, 0) }), verdict.NotExercised},
	})
}

func TestALeaderThatCampaignsIsRefused(t *testing.T) {
	of := func(typ histories.Type) func(*run) {
		return func(r *run) {
			r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.Election}})
			r.want(0, 1).got(1, 1, 1)
			again := histories.Event{Depth: 2}
			if typ == histories.OK {
				again.Token, again.Session = tok(1), session(1)
			}
			r.op(2, histories.Invoke, 1, histories.Acquire, histories.Event{Depth: 2}).op(3, typ, 1, histories.Acquire, again)
			r.release(9, 1).released(10, 1)
		}
	}
	answers(t, Reentrancy, []known{
		{"a leader that campaigns is refused", of(histories.Fail), verdict.Holds},
		{"a leader that campaigns is elected again", of(histories.OK), verdict.Violated},
	})
}
