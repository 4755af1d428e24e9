package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/targets"
)

// helloStep is the first step: without hello no command can be sent.
var helloStep = scenario{"hello", "it starts, and says first of all what it is", func(s *stage) {
	h := &s.hosts
	if h.Name == "" && len(h.Recipes) == 0 {
		t, err := targets.Named(s.Target)
		if err != nil {
			s.wrong("hosts in its hello, or a target that zkverify has", err.Error())
		}
		h.Recipes = lock.RecipesOf(t)
		s.promises = t.Promises(lock.Settings{SessionTimeout: s.SessionTimeout, TickTime: s.Ensemble.TickTime()})
		return
	}
	known := func(r histories.Recipe) bool { return slices.Contains(histories.Recipes(), r) }
	if h.Name == "" || len(h.Recipes) == 0 || !all(h.Recipes, known) {
		s.fail(fmt.Sprintf("hosts with a name and recipes of these: %v", histories.Recipes()))
	}
	if h.Promises == nil {
		env := &protocol.Where{Timeout: s.SessionTimeout.Milliseconds(), Tick: s.Ensemble.TickTime().Milliseconds()}
		h.Promises = s.ok(protocol.Command{Do: protocol.DoPromises, Env: env}).Promises
		if h.Promises == nil {
			s.fail("promises, in hosts or as the answer to the command promises")
		}
	}
	s.promises = *h.Promises
	if s.promises.LossBound == 0 {
		s.promises.LossBound = s.SessionTimeout
	}
}}

func all[T any](values []T, is func(T) bool) bool {
	return !slices.ContainsFunc(values, func(v T) bool { return !is(v) })
}

// steps returns the steps after hello, for the recipes that the worker hosts.
func (c *check) steps() []scenario {
	steps := []scenario{echoStep, pipelineStep, laterStep, unknownCommandStep, unknownClientStep, badInputStep, endStep, openStep, cancelOpenStep}
	lock := histories.Recipe("")
	for _, r := range histories.Recipes() {
		if !slices.Contains(c.hosts.Recipes, r) {
			continue
		}
		switch r {
		case histories.Barrier:
			steps = append(steps, barrierStep)
		case histories.DoubleBarrier:
			steps = append(steps, doubleBarrierStep)
		default:
			if lock == "" {
				lock = r
			}
			steps = append(steps, c.lockSteps(r)...)
		}
	}
	if lock != "" {
		steps = append(steps, c.sessionSteps(lock)...)
	}
	return append(steps, closeStep)
}

// chosen returns the steps that Config.Steps names.
func (c *check) chosen() (chosen []scenario, err error) {
	all := c.steps()
	if len(c.Steps) == 0 {
		return all, nil
	}
	var names []string
	for _, s := range all {
		names = append(names, s.name)
		if slices.Contains(c.Steps, s.name) {
			chosen = append(chosen, s)
		}
	}
	for _, name := range c.Steps {
		if !slices.Contains(names, name) {
			return nil, words.Unknown("step", name, names, words.Known(names))
		}
	}
	return chosen, nil
}

var echoStep = scenario{"echo", "it answers echo at once", func(s *stage) {
	s.ok(protocol.Command{Do: protocol.DoEcho})
}}

var pipelineStep = scenario{"pipelining", "it answers each of many commands that come in one piece", func(s *stage) {
	var text bytes.Buffer
	var sent []protocol.Command
	s.p.mu.Lock()
	for range 20 {
		s.p.next++
		s.p.pending[s.p.next] = true
		sent = append(sent, protocol.Command{ID: s.p.next, Do: protocol.DoEcho})
		line, _ := protocol.Encode(sent[len(sent)-1])
		text.Write(line)
	}
	s.p.mu.Unlock()
	// Half a line is no command yet: the rest comes later.
	whole := text.Bytes()
	s.p.write(whole[:len(whole)-7])
	s.last = "20 commands at once"
	for _, c := range sent[:19] {
		s.succeeds(c)
	}
	s.p.write(whole[len(whole)-7:])
	s.succeeds(sent[19])
}}

var laterStep = scenario{"unknown fields", "it leaves fields of a command alone that it does not know", func(s *stage) {
	s.from = s.p.mark()
	s.p.mu.Lock()
	s.p.next++
	id := s.p.next
	s.p.pending[id] = true
	s.p.mu.Unlock()
	text, _ := json.Marshal(map[string]any{"id": id, "do": protocol.DoEcho, "client": 0, "later": map[string]any{"version": 2}})
	s.last = string(text)
	s.p.write(append(text, '\n'))
	s.succeeds(protocol.Command{ID: id, Do: protocol.DoEcho})
}}

var unknownCommandStep = scenario{"unknown command", "it answers a command that it does not know with an error, and goes on", func(s *stage) {
	c := s.open(1)
	s.refused(protocol.Command{Do: "dance", Client: c.number}, "there is no such command")
	s.ok(protocol.Command{Do: protocol.DoEcho})
}}

var unknownClientStep = scenario{"unknown client", "it answers commands for clients and leases that there are not with an error", func(s *stage) {
	s.refused(protocol.Command{Do: string(histories.Acquire), Client: 7, Recipe: s.hosts.Recipes[0], Lock: lockOf(s.hosts.Recipes[0])}, "no client 7 is open")
	c := s.open(1)
	s.refused(protocol.Command{Do: string(histories.Release), Client: c.number, Lease: 99}, "there is no lease 99")
	s.ok(protocol.Command{Do: protocol.DoEcho})
}}

var badInputStep = scenario{"bad input", "it ends with an error at a line that is no JSON, or goes on; it does not fall silent", func(s *stage) {
	s.from, s.last = s.p.mark(), "this is no command"
	s.p.write([]byte(s.last + "\n"))
	echo := s.p.send(protocol.Command{Do: protocol.DoEcho})
	_, answered := s.p.await(s.ctx, s.from, s.Patience, func(l protocol.Line) bool { return l.ID == echo.ID && l.Event == "" })
	if answered {
		return
	}
	select {
	case <-s.p.Done():
		if s.p.Err() == nil {
			s.fail("an exit status other than 0: a run takes 0 for a good end")
		}
	case <-time.After(time.Second): // its output may have ended just before it
		s.fail("an answer to the next command, or the end of the process")
	}
}}

var endStep = scenario{"end of input", "it ends when its input does, though a client is open and an acquire waits", func(s *stage) {
	r := s.hosts.Recipes[0]
	if r.IsLock() {
		a, b := s.open(1), s.open(2)
		a.acquire(r)
		b.send(b.claim(histories.Acquire, r))
	}
	s.from, s.last = s.p.mark(), "(the end of its standard input)"
	_ = s.p.In.Close()
	select {
	case <-s.p.Done():
	case <-time.After(s.Patience):
		s.fail(fmt.Sprintf("the end of the process within %v", s.Patience))
	case <-s.ctx.Done():
	}
}}

var openStep = scenario{"open", "it opens a client, and tells of its session, its link and its presence node", func(s *stage) {
	from := s.p.mark()
	command := s.send(protocol.Command{Do: protocol.DoOpen, Client: 1, Env: s.env()})
	l := s.answer(command, openWithin)
	if l.Error != "" {
		s.fail("an answer to open without an error")
	}
	for _, r := range s.hosts.Recipes {
		if !slices.Contains(l.Offers, r) {
			s.fail(fmt.Sprintf(`"offers" with %q, which its hello has`, r))
		}
	}
	sessionFirst, told := false, protocol.Line{}
	s.p.await(s.ctx, from, 0, func(l protocol.Line) bool {
		if l.Event == protocol.SaySession && !sessionFirst {
			sessionFirst, told = true, l
		}
		return l.Event == "" && l.ID == command.ID
	})
	if !sessionFirst {
		s.fail(`{"event":"session",…} before open is answered`)
	}
	ids := []int{}
	for _, server := range s.Ensemble.Servers() {
		ids = append(ids, server.ID)
	}
	switch {
	case told.Client == nil || *told.Client != 1:
		s.fail(`"client":1 in the event session`)
	case sessionNumber(told.Session) == 0:
		s.fail(`"session" as 0x and hexadecimal`)
	case len(told.Password) == 0:
		s.fail(`"password" in the event session, base64: the fault that ends a session needs it`)
	case told.Timeout != s.SessionTimeout.Milliseconds():
		s.fail(fmt.Sprintf(`"session_timeout":%d, what the servers have granted`, s.SessionTimeout.Milliseconds()))
	case !slices.Contains(ids, told.Server):
		s.fail(fmt.Sprintf(`"server" with the id of the server that the client is linked to, one of %v`, ids))
	}
	c := &client{stage: s, number: 1, session: told.Session}
	c.announced(from)
}}

var cancelOpenStep = scenario{"cancel open", "it gives an open up that is cancelled: no server can be reached", func(s *stage) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	s.served(err)
	nobody := l.Addr().String()
	s.served(l.Close())
	env := s.env()
	env.Servers = []protocol.Server{{ID: 1, Addr: nobody}}
	open := s.send(protocol.Command{Do: protocol.DoOpen, Client: 1, Env: env})
	s.silent(open, "no server can be reached")
	s.send(protocol.Command{Do: protocol.DoCancel, Of: open.ID, Client: 1})
	if l := s.answer(open, s.Patience); l.Error == "" {
		s.fail("an answer to open with an error")
	}
	s.ok(protocol.Command{Do: protocol.DoEcho})
}}

var closeStep = scenario{"close", "it closes a client in good order: its session ends at once, and nothing is left running", func(s *stage) {
	from := s.p.mark()
	c := s.open(1)
	c.announced(from)
	s.ok(protocol.Command{Do: protocol.DoClose, Client: c.number})
	if !s.vanishes(c.session, s.SessionTimeout/2) {
		s.wrong("the end of session "+c.session, fmt.Sprintf("a session that still lives %v after close was answered", s.SessionTimeout/2))
	}
	if l := s.ok(protocol.Command{Do: protocol.DoCensus}); len(l.Stacks) > 0 {
		s.fail(`"stacks" without what a client that is closed has left`)
	}
}}

// end expires a session as an administrator does, like the fault expire-session. Slow servers
// may have let it expire by themselves meanwhile: that is an end too.
func (c *client) end() {
	err := ensemble.ExpireAnywhere(c.ctx, c.Ensemble.Servers(), c.SessionTimeout, sessionNumber(c.session), c.password, c.SessionTimeout)
	if errors.Is(err, ensemble.ErrNoSession) {
		if lives, _ := c.present(c.session); !lives {
			return
		}
		c.wrong("the session and its password in the event session", "with them the servers say: "+err.Error())
	}
	c.served(err)
}
