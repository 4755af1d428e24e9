package conformance

import (
	"fmt"
	"path"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// lockSteps returns the steps of one recipe whose locks are held.
func (c *check) lockSteps(r histories.Recipe) []scenario {
	steps := []scenario{
		{"acquire", "it acquires a free lock, says that it is valid, releases it, and acquires it again", func(s *stage) { s.acquires(r) }},
		{"try", "a try fails at once while another holds the lock, and succeeds when nobody does", func(s *stage) {
			a, b := s.open(1), s.open(2)
			held, _ := a.acquire(r)
			b.notAcquired(r)
			a.release(held.ID)
			got := s.send(b.claim(histories.TryAcquire, r))
			s.succeeds(got)
			b.release(got.ID)
		}},
		{"wait", "an acquire waits while another holds the lock, and holds nothing else up meanwhile", func(s *stage) { s.waits(r, c.promises.FIFO) }},
		{"cancel", "an acquire that is cancelled in mid-wait is answered soon, and leaves nothing in the way", func(s *stage) { s.cancels(r) }},
		{"cancelled release", "a release that is cancelled is still carried out", func(s *stage) { s.cancelsRelease(r) }},
	}
	if c.promises.Reentrant && reentrant(r) {
		steps = append(steps, scenario{"reenter", "the owner acquires again, and only the last release frees the lock", func(s *stage) { s.reenters(r) }})
	}
	if c.promises.Guards && r.Guards() {
		steps = append(steps, scenario{"set-guarded", "a holder sets a node's data, and a client that has released does not", func(s *stage) { s.guards(r) }})
	}
	if r == histories.Revocation {
		steps = append(steps, scenario{"revoke", "a holder who listens is asked to release", func(s *stage) { s.revokes(r) }})
	}
	if r == histories.Election {
		steps = append(steps, scenario{"observe", "an observer is told who leads, and that nobody does, until it is cancelled", func(s *stage) { s.observes(r) }})
	}
	if len(c.hosts.Recipes) > 1 {
		for i := range steps {
			steps[i].name = string(r) + ": " + steps[i].name
		}
	}
	return steps
}

// reentrant reports whether locks of a recipe can be acquired again by their owner.
func reentrant(r histories.Recipe) bool {
	return r == histories.Mutex || r == histories.ReadWrite || r == histories.Revocation
}

func (s *stage) acquires(r histories.Recipe) {
	a, b := s.open(1), s.open(2)
	token := histories.Token{}
	for range 2 {
		for _, c := range []*client{a, b} {
			lease, l := c.acquire(r)
			if sessionNumber(l.Session) != sessionNumber(c.session) {
				s.fail(fmt.Sprintf(`"session":"%s", that of client %d`, c.session, c.number))
			}
			got := l.Token
			if r == histories.MultiLock && len(l.Tokens) == 1 {
				got = l.Tokens[0]
			}
			if s.promises.Tokens && r.Exclusive() && !older(token, got) {
				s.fail(fmt.Sprintf(`a "token" greater than %v: hosts promises tokens`, token))
			}
			token = got
			if !s.ok(protocol.Command{Do: protocol.DoValid, Client: c.number, Lease: lease.ID}).Valid {
				s.fail(`"valid":true of a lease that is held`)
			}
			c.release(lease.ID)
		}
	}
}

// older reports whether a token was issued before another.
func older(a, b histories.Token) bool { return a.Zxid < b.Zxid || a.Zxid == b.Zxid && a.Sub < b.Sub }

func (s *stage) waits(r histories.Recipe, fifo bool) {
	a, b := s.open(1), s.open(2)
	held, _ := a.acquire(r)
	waiting := s.send(b.claim(histories.Acquire, r))
	if fifo {
		s.event(fmt.Sprintf(`{"event":"enqueued","id":%d,…}: hosts promises fifo`, waiting.ID), 0, s.Patience, func(l protocol.Line) bool {
			return l.Event == protocol.SayEnqueued && l.ID == waiting.ID
		})
	}
	s.silent(waiting, "client 1 holds the lock")
	s.ok(protocol.Command{Do: protocol.DoEcho})
	s.ok(protocol.Command{Do: protocol.DoValid, Client: a.number, Lease: held.ID})
	a.release(held.ID)
	s.last = fmt.Sprintf("(client 1 has released what command %d waits for)", waiting.ID)
	s.succeeds(waiting)
	b.release(waiting.ID)
}

func (s *stage) cancels(r histories.Recipe) {
	a, b := s.open(1), s.open(2)
	held, _ := a.acquire(r)
	waiting := s.send(b.claim(histories.Acquire, r))
	s.silent(waiting, "client 1 holds the lock")
	s.send(protocol.Command{Do: protocol.DoCancel, Of: waiting.ID, Client: b.number})
	if l := s.answer(waiting, s.Patience); l.Error == "" || l.Why != protocol.WhyCancelled {
		s.fail(fmt.Sprintf(`an answer to command %d with an error and "why":"cancelled"`, waiting.ID))
	}
	a.release(held.ID)
	again := s.send(a.claim(histories.Acquire, r))
	if l := s.answer(again, s.Patience); l.Error != "" {
		s.fail("the lock: the acquire that was cancelled has left something in the way")
	}
	a.release(again.ID)
	// To cancel a command that is over does nothing.
	s.send(protocol.Command{Do: protocol.DoCancel, Of: waiting.ID, Client: b.number})
	s.ok(protocol.Command{Do: protocol.DoEcho})
}

// cancelsRelease cancels releases, at random before or after they have begun.
func (s *stage) cancelsRelease(r histories.Recipe) {
	a, b := s.open(1), s.open(2)
	for range 10 {
		held, _ := a.acquire(r)
		release := s.send(protocol.Command{Do: string(histories.Release), Client: a.number, Lease: held.ID})
		s.send(protocol.Command{Do: protocol.DoCancel, Client: a.number, Of: release.ID})
		s.answer(release, s.Patience) // with its result, or with cancelled
		next := s.send(b.claim(histories.Acquire, r))
		if l := s.answer(next, s.Patience); l.Error != "" {
			s.fail("the lock: it has been released")
		}
		b.release(next.ID)
	}
}

func (s *stage) reenters(r histories.Recipe) {
	a, b := s.open(1), s.open(2)
	outer, _ := a.acquire(r)
	again := a.claim(histories.Acquire, r)
	again.Do, again.Lease = protocol.DoReenter, outer.ID
	inner := s.send(again)
	s.succeeds(inner)
	a.release(inner.ID)
	if !s.ok(protocol.Command{Do: protocol.DoValid, Client: a.number, Lease: outer.ID}).Valid {
		s.fail(`"valid":true of the outer lease after the release of the inner one`)
	}
	b.notAcquired(r)
	a.release(outer.ID)
	got := s.send(b.claim(histories.TryAcquire, r))
	s.succeeds(got)
}

func (s *stage) guards(r histories.Recipe) {
	c, node := s.open(1), path.Join(s.root, "data")
	s.served(s.create(node))
	held, _ := c.acquire(r)
	s.ok(protocol.Command{Do: protocol.DoSet, Client: c.number, Lease: held.ID, Node: node, Data: "mine"})
	_, err := s.observer.Conn().Sync(node)
	s.served(err)
	if data, _, err := s.observer.Conn().Get(node); err != nil || string(data) != "mine" {
		s.wrong(fmt.Sprintf("%q in %s", "mine", node), fmt.Sprintf("%q", data))
	}
	c.release(held.ID)
	s.refused(protocol.Command{Do: protocol.DoSet, Client: c.number, Lease: held.ID, Node: node, Data: "late"}, "the lock is released")
}

func (s *stage) revokes(r histories.Recipe) {
	a, b := s.open(1), s.open(2)
	holder := func(c *client) protocol.Line {
		return s.answer(s.send(protocol.Command{Do: protocol.DoHolder, Client: c.number, Lock: lockOf(r)}), s.Patience)
	}
	if l := holder(b); l.Error == "" || l.Why != protocol.WhyNotHeld {
		s.fail(`an error with "why":"not-held": nobody holds the lock`)
	}
	held, got := a.acquire(r)
	s.ok(protocol.Command{Do: protocol.DoListen, Client: a.number, Lease: held.ID})
	l := holder(b)
	if l.Error != "" || l.Node == "" || s.promises.Tokens && l.Token != got.Token {
		s.fail("the node and the token of the lease of client 1")
	}
	s.ok(protocol.Command{Do: string(histories.Revoke), Client: b.number, Node: l.Node})
	s.event(fmt.Sprintf(`{"event":"revoke-requested","lease":%d}`, held.ID), 0, s.Patience, func(l protocol.Line) bool {
		return l.Event == protocol.SayRevokeRequested && l.Lease == held.ID
	})
	a.release(held.ID)
}

func (s *stage) observes(r histories.Recipe) {
	a, b := s.open(1), s.open(2)
	observe := s.send(protocol.Command{Do: string(histories.Observe), Client: a.number, Recipe: r, Lock: lockOf(r)})
	from := 0
	sees := func(token histories.Token, what string) {
		s.event(fmt.Sprintf(`{"event":"observed","id":%d}: %s`, observe.ID, what), from, s.Patience, func(l protocol.Line) bool {
			return l.Event == protocol.SayObserved && l.ID == observe.ID && l.Token == token
		})
		from = s.p.mark()
	}
	sees(histories.Token{}, "nobody leads")
	term, got := b.acquire(r)
	sees(got.Token, "client 2 leads")
	b.release(term.ID)
	sees(histories.Token{}, "nobody leads any more")
	s.send(protocol.Command{Do: protocol.DoCancel, Client: a.number, Of: observe.ID})
	if l := s.answer(observe, s.Patience); l.Why != protocol.WhyCancelled {
		s.fail(`an answer to observe with "why":"cancelled"`)
	}
}

// sessionSteps returns the steps about the end of a session, and of the locks held in it.
func (c *check) sessionSteps(r histories.Recipe) []scenario {
	return []scenario{
		{"loss", "it reports a session that was forced to expire, the next one, and the lease that is lost", func(s *stage) { s.loses(r) }},
		{"crash", "it ends a client as its death would: its connections close, its session is left to expire", func(s *stage) { s.crashes(r) }},
	}
}

func (s *stage) loses(r histories.Recipe) {
	from := s.p.mark()
	c := s.open(1)
	c.announced(from)
	held, _ := c.acquire(r)
	before, from := c.session, s.p.mark()
	s.last, s.from = "(session "+before+" is forced to expire)", from
	c.end()
	within := s.promises.LossBound + s.Patience
	if s.promises.TellsLoss {
		s.event(fmt.Sprintf(`{"event":"lost","lease":%d}: hosts promises tells_loss`, held.ID), from, within, func(l protocol.Line) bool {
			return l.Event == protocol.SayLost && l.Lease == held.ID
		})
		valid := s.send(protocol.Command{Do: protocol.DoValid, Client: c.number, Lease: held.ID})
		if s.succeeds(valid).Valid {
			s.fail(`an answer without "valid":true: the lease is lost`)
		}
	}
	c.told(from, within, before)
	c.announced(from)
	// The release of the old lease must be answered, with success or not; then a new acquire
	// succeeds.
	s.answer(s.send(protocol.Command{Do: string(histories.Release), Client: c.number, Lease: held.ID}), s.Patience)
	again, _ := c.acquire(r)
	c.release(again.ID)
}

func (s *stage) crashes(r histories.Recipe) {
	from := s.p.mark()
	a, b := s.open(1), s.open(2)
	a.announced(from)
	a.acquire(r)
	begun := time.Now()
	s.ok(protocol.Command{Do: protocol.DoCrash, Client: a.number})
	there, _ := s.present(a.session)
	if !there && time.Since(begun) < s.SessionTimeout/2 {
		s.wrong("a session "+a.session+" that is left to expire", fmt.Sprintf("a session that has ended %v after crash was sent: it was closed", time.Since(begun).Round(time.Millisecond)))
	}
	s.refused(protocol.Command{Do: protocol.DoValid, Client: a.number, Lease: 1}, "client 1 has crashed")
	s.from = s.p.mark()
	if within := 2*s.SessionTimeout + s.Patience; !s.vanishes(a.session, within) {
		s.wrong("the end of session "+a.session+" by expiry", fmt.Sprintf("a session that still lives %v after crash was answered: its connection was not closed", within))
	}
	waiting := s.send(b.claim(histories.Acquire, r))
	s.succeeds(waiting)
}

var barrierStep = scenario{"barrier", "a wait ends when the barrier is removed, and not before", func(s *stage) {
	a, b := s.open(1), s.open(2)
	of := func(c *client, op histories.Op) protocol.Command {
		return protocol.Command{Do: string(op), Client: c.number, Lock: lockOf(histories.Barrier)}
	}
	s.ok(of(b, histories.Wait))
	s.ok(of(a, histories.Set))
	waiting := s.send(of(b, histories.Wait))
	s.silent(waiting, "the barrier is set")
	s.ok(of(a, histories.Remove))
	s.last = "(client 1 has removed the barrier)"
	s.succeeds(waiting)
}}

var doubleBarrierStep = scenario{"double barrier", "members enter together, and leave together", func(s *stage) {
	a, b := s.open(1), s.open(2)
	of := func(c *client, op histories.Op, lease int64) protocol.Command {
		return protocol.Command{Do: string(op), Client: c.number, Lock: lockOf(histories.DoubleBarrier), Lease: lease}
	}
	first := s.send(of(a, histories.Enter, 0))
	s.silent(first, "two members must come")
	second := s.send(of(b, histories.Enter, 0))
	s.succeeds(first)
	s.succeeds(second)
	leaving := s.send(of(a, histories.Leave, first.ID))
	s.silent(leaving, "the other member has not left")
	s.ok(of(b, histories.Leave, second.ID))
	s.succeeds(leaving)
}}
