package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// stage is a step under way: a process, and the commands to it. Its methods that expect a line
// give the step up when the line does not come.
type stage struct {
	*check
	ctx  context.Context
	p    *process
	root string // of the step's own nodes
	last string // the last command, to show
	from int    // the mark before that command
}

// fail gives the step up, with the lines that came instead.
func (s *stage) fail(expected string) {
	panic(gaveUp{Wrong{Sent: s.last, Expected: expected, Came: s.p.since(s.from)}})
}

// wrong gives the step up, with the given text instead of the lines.
func (s *stage) wrong(expected, came string) {
	panic(gaveUp{Wrong{Sent: s.last, Expected: expected, Came: came}})
}

// served stops the step if the check's own requests have failed.
func (s *stage) served(err error) {
	if err != nil {
		panic(fmt.Errorf("%w: %w", errServers, err))
	}
}

// prepare creates the step's nodes and waits for hello.
func (s *stage) prepare() {
	for _, node := range []string{s.root, s.root + "/locks", s.presence()} {
		s.served(s.create(node))
	}
	hello, ok := s.p.await(s.ctx, 0, protocol.HelloWithin, func(l protocol.Line) bool { return l.Event == protocol.SayHello })
	if !ok {
		s.fail(fmt.Sprintf(`{"at":…,"event":"hello","protocol":%d} within %v`, protocol.Version, protocol.HelloWithin))
	}
	if hello.Hosts != nil {
		s.hosts = *hello.Hosts
	}
	if hello.Protocol != protocol.Version {
		s.fail(fmt.Sprintf(`"protocol":%d`, protocol.Version))
	}
}

// openWithin is the time that a client has to get a session.
const openWithin = 20 * time.Second

func (s *stage) presence() string { return s.root + "/sessions" }

// send sends a command.
func (s *stage) send(c protocol.Command) protocol.Command {
	s.from = s.p.mark()
	c = s.p.send(c)
	shown := c
	shown.Env = nil // it may have secrets
	if text, err := json.Marshal(shown); err == nil {
		s.last = string(text)
	}
	return c
}

// answer waits for the answer to a command.
func (s *stage) answer(c protocol.Command, within time.Duration) protocol.Line {
	l, ok := s.p.await(s.ctx, 0, within, func(l protocol.Line) bool { return l.Event == "" && l.ID == c.ID })
	if !ok {
		s.fail(fmt.Sprintf("an answer to %s (\"id\":%d) within %v", c.Do, c.ID, within))
	}
	return l
}

// ok sends a command and expects that it succeeds.
func (s *stage) ok(c protocol.Command) protocol.Line {
	c = s.send(c)
	return s.succeeds(c)
}

// succeeds expects that a command succeeds.
func (s *stage) succeeds(c protocol.Command) protocol.Line {
	l := s.answer(c, s.Patience)
	if l.Error != "" {
		s.fail(fmt.Sprintf("an answer to %s without an error", c.Do))
	}
	return l
}

// refused sends a command and expects that it fails.
func (s *stage) refused(c protocol.Command, because string) {
	c = s.send(c)
	if l := s.answer(c, s.Patience); l.Error == "" {
		s.fail(fmt.Sprintf("an answer to %s with an error: %s", c.Do, because))
	}
}

// silent expects that a command is not answered yet.
func (s *stage) silent(c protocol.Command, because string) {
	if _, came := s.p.await(s.ctx, 0, quiet, func(l protocol.Line) bool { return l.Event == "" && l.ID == c.ID }); came {
		s.fail(fmt.Sprintf("no answer to %s (\"id\":%d) yet: %s", c.Do, c.ID, because))
	}
}

// quiet is the time for which a command that must not be answered yet is watched.
const quiet = 300 * time.Millisecond

// event waits for an event.
func (s *stage) event(what string, from int, within time.Duration, is func(protocol.Line) bool) protocol.Line {
	l, ok := s.p.await(s.ctx, from, within, is)
	if !ok {
		s.fail(fmt.Sprintf("%s within %v", what, within))
	}
	return l
}

// env returns the environment that clients are opened with.
func (s *stage) env() *protocol.Where {
	e := &protocol.Where{
		Target: s.Target, Timeout: s.SessionTimeout.Milliseconds(), Tick: s.Ensemble.TickTime().Milliseconds(),
		Root: s.root + "/locks", Presence: s.presence(), Scheme: s.Auth.Scheme(), Secret: s.Auth.Secret(),
		Locks: make(map[string]histories.Lock),
	}
	if s.hosts.Name != "" {
		e.Target = s.hosts.Name
	}
	for _, r := range histories.Recipes() {
		l := histories.Lock{Recipe: r}
		switch r {
		case histories.Semaphore, histories.SharedSemaphore:
			l.Size = 1
		case histories.DoubleBarrier:
			l.Size = 2
		}
		e.Locks[lockOf(r)] = l
	}
	for _, server := range s.Ensemble.Servers() {
		e.Servers = append(e.Servers, protocol.Server{ID: server.ID, Addr: server.Addr})
	}
	return e
}

// lockOf returns the name of the one lock of a recipe.
func lockOf(r histories.Recipe) string { return string(r) + "-0" }

// client is an open client of the worker.
type client struct {
	*stage
	number   int
	session  string
	password []byte
}

// open opens a client, and expects that its session is reported.
func (s *stage) open(number int) *client {
	from := s.p.mark()
	command := s.send(protocol.Command{Do: protocol.DoOpen, Client: number, Env: s.env()})
	if l := s.answer(command, openWithin); l.Error != "" {
		s.fail("an answer to open without an error")
	}
	c := &client{stage: s, number: number}
	c.told(from, s.Patience, "")
	return c
}

// told waits for the event of a session other than not, and remembers the session.
func (c *client) told(from int, within time.Duration, not string) {
	l := c.event(fmt.Sprintf(`{"event":"session","client":%d,…} with a new session`, c.number), from, within, func(l protocol.Line) bool {
		return l.Event == protocol.SaySession && l.Client != nil && *l.Client == c.number && l.Session != not && l.Session != ""
	})
	c.session, c.password = l.Session, l.Password
}

// present returns whether the presence node of a session exists, and its stat.
func (s *stage) present(session string) (bool, *zk.Stat) {
	_, err := s.observer.Conn().Sync(s.presence())
	s.served(err)
	there, stat, err := s.observer.Conn().Exists(path.Join(s.presence(), session))
	s.served(err)
	return there, stat
}

// vanishes waits until the presence node of a session is gone.
func (s *stage) vanishes(session string, within time.Duration) bool {
	for deadline := time.Now().Add(within); ; {
		if there, _ := s.present(session); !there {
			return true
		}
		if time.Now().After(deadline) || s.ctx.Err() != nil {
			return false
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-s.ctx.Done():
		}
	}
}

// announced expects that the presence node of the client's session exists, and that it is
// reported.
func (c *client) announced(from int) {
	l := c.event(fmt.Sprintf(`{"event":"presence","client":%d,"session":"%s",…}`, c.number, c.session), from, c.Patience, func(l protocol.Line) bool {
		return l.Event == protocol.SayPresence && l.Client != nil && *l.Client == c.number && sessionNumber(l.Session) == sessionNumber(c.session)
	})
	_, err := c.observer.Conn().Sync(c.presence())
	c.served(err)
	node := path.Join(c.presence(), c.session)
	there, stat, err := c.observer.Conn().Exists(node)
	c.served(err)
	switch {
	case !there:
		c.wrong("the node "+node, "no such node")
	case stat.EphemeralOwner != sessionNumber(c.session):
		c.wrong(fmt.Sprintf("%s as an ephemeral node of session %s", node, c.session), fmt.Sprintf("a node of session %#x", stat.EphemeralOwner))
	case stat.Czxid != l.Czxid:
		c.wrong(fmt.Sprintf(`"czxid":%d, that of %s`, stat.Czxid, node), fmt.Sprintf(`"czxid":%d`, l.Czxid))
	}
}

// claim returns a command of the client for the one lock of a recipe.
func (c *client) claim(do histories.Op, r histories.Recipe) protocol.Command {
	command := protocol.Command{Do: string(do), Client: c.number, Recipe: r, Lock: lockOf(r)}
	switch r {
	case histories.ReadWrite:
		command.Mode = histories.ModeWrite
	case histories.MultiLock:
		command.Lock, command.Locks = "", []string{lockOf(r)}
	case histories.Semaphore, histories.SharedSemaphore:
		command.Permits = 1
	}
	return command
}

// acquire acquires the lock of a recipe, which is free. It returns the command,
// whose number is that of the lease.
func (c *client) acquire(r histories.Recipe) (protocol.Command, protocol.Line) {
	command := c.send(c.claim(histories.Acquire, r))
	return command, c.succeeds(command)
}

// release releases a lease that is held.
func (c *client) release(lease int64) {
	c.ok(protocol.Command{Do: string(histories.Release), Client: c.number, Lease: lease})
}

// notAcquired expects that a try of a lock that another client holds fails as it should.
func (c *client) notAcquired(r histories.Recipe) {
	command := c.send(c.claim(histories.TryAcquire, r))
	l := c.answer(command, c.Patience)
	if l.Error == "" || l.Why != protocol.WhyNotAcquired {
		c.fail(`an error with "why":"not-acquired": another client holds the lock`)
	}
}
