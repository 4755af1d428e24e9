package model_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// run is the run of one program on one target.
type run struct {
	*recorder
	target     *Target
	actors     []*actor
	perishable map[string]perishable // by path
}

// actor is one of the program's sessions, which may follow an earlier one that ended.
type actor struct {
	name    string
	server  int
	session Session // of ID 0 if there is none
	client  *Client // nil without a connection
}

// ErrNewLeader is returned by Run when an election has disturbed the program.
var ErrNewLeader = errors.New("the ensemble has got a new leader")

// Run carries out a program and returns the observations of its sessions. Its errors are
// those of the harness; faults of a server are in the transcript.
func (t *Target) Run(ctx context.Context, p Program) (Transcript, error) {
	root, err := t.newRoot(ctx)
	if err != nil {
		return Transcript{}, err
	}
	r := &run{recorder: &recorder{root: root, names: map[int64]string{}}, target: t, perishable: map[string]perishable{}}
	if err := t.barrier(ctx); err != nil {
		return Transcript{}, err
	}
	if r.before, _, err = t.stat(ctx, "/"); err != nil {
		return Transcript{}, err
	}
	epoch := t.zxid() >> 32
	for i, step := range p.Steps {
		if err := r.step(ctx, step); err != nil {
			r.end(ctx)
			return Transcript{}, fmt.Errorf("step %d: %s: %w", i, step, err)
		}
	}
	r.end(ctx)
	if err := t.remove(ctx, strings.TrimSuffix(root, "/r")); err != nil {
		return Transcript{}, err
	}
	if t.zxid()>>32 != epoch {
		return Transcript{}, ErrNewLeader
	}
	return r.transcript(), nil
}

// step carries out a step and waits until all its effects have been seen.
func (r *run) step(ctx context.Context, s Step) error {
	for len(r.actors) <= s.Session {
		i := len(r.actors)
		r.actors = append(r.actors, &actor{name: fmt.Sprintf("s%d", i), server: i % len(r.target.addresses)})
	}
	a := r.actors[s.Session]
	r.steps = append(r.steps, recordedStep{from: time.Now(), after: r.target.zxid(), sortsEvents: s.Action == Leave || s.Action == Expire})
	if a.client == nil {
		if err := r.connect(ctx, a); err != nil {
			return err
		}
	}
	if err := r.act(ctx, a, s); err != nil {
		return err
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	now := &r.steps[len(r.steps)-1]
	now.to, now.last = time.Now(), r.target.zxid()
	return nil
}

func (r *run) act(ctx context.Context, a *actor, s Step) error {
	server := s.Server % len(r.target.addresses)
	switch s.Action {
	case Ask:
		return r.ask(a, s.Requests)
	case Move, Ahead:
		a.drop()
		a.server = server
		if s.Action == Ahead {
			defer func(zxid int64) { a.session.LastZxid = zxid }(a.session.LastZxid)
			a.session.LastZxid = 1 << 60
		}
		return r.connect(ctx, a)
	case Steal:
		return r.steal(ctx, a, server, s.Requests)
	case Leave:
		return r.leave(a)
	case Expire:
		return r.expire(ctx, a, server)
	case Forge:
		return r.forge(ctx, a, server)
	}
	return fmt.Errorf("action %q is unknown", s.Action)
}

// connect begins a session, or reconnects to the actor's.
func (r *run) connect(ctx context.Context, a *actor) error {
	before := a.session
	c, err := Dial(ctx, r.target.addresses[a.server], a.session, patience)
	if err != nil {
		return r.failed(a.name, err)
	}
	if c.Timeout == 0 {
		a.session = Session{LastZxid: before.LastZxid}
		return r.refused(a.name, c)
	}
	a.client = c
	text := fmt.Sprintf("timeout %v", c.Timeout)
	if before.ID == 0 {
		if r.names[c.Session.ID] = a.name; a.session.Password != nil {
			return fmt.Errorf("a password without a session")
		}
	} else if c.Session.ID != before.ID || string(c.Session.Password) != string(before.Password) {
		text += " in another session"
	}
	a.session = c.Session
	r.add(recorded{session: a.name, kind: Connected, text: text})
	return nil
}

// refused records that a session has expired, and the frames that the server sends then.
func (r *run) refused(name string, c *Client) error {
	defer c.Close()
	r.add(recorded{session: name, kind: Expired, text: fmt.Sprintf("session %d", c.Session.ID)})
	_, err := c.AwaitClosed()
	if err == nil {
		err = ErrClosed
	}
	return r.failed(name, err)
}

// failed records an error of the server. It returns errors of other kinds.
func (r *run) failed(name string, err error) error {
	switch {
	case errors.Is(err, ErrClosed):
		r.add(recorded{session: name, kind: Closed})
	case errors.Is(err, ErrNoAnswer):
		r.add(recorded{session: name, kind: Silent})
	default:
		return err
	}
	return nil
}

// ask sends requests and reads their replies.
func (r *run) ask(a *actor, requests []Request) error {
	if a.client == nil {
		return nil // the step before has recorded the reason
	}
	return r.lost(a, r.exchange(a.name, a.client, requests))
}

// lost records that a connection has failed, and drops it.
func (r *run) lost(a *actor, err error) error {
	if err == nil {
		return nil
	}
	a.drop()
	return r.failed(a.name, err)
}

// drop closes the actor's connection.
func (a *actor) drop() {
	if a.client != nil {
		a.session.LastZxid = a.client.Session.LastZxid
		a.client.Close()
		a.client = nil
	}
}

func (r *run) exchange(name string, c *Client, requests []Request) error {
	ops := map[int32]wire.Op{}
	sent := map[int32]Request{}
	for _, q := range requests {
		body, err := place(q.Op, q.Body, r.root)
		if err != nil {
			return err
		}
		r.setRelativeZxid(body)
		xid, err := c.Send(q.Op, body, q.Cut)
		if err != nil {
			return err
		}
		ops[xid], sent[xid] = q.Op, Request{Op: q.Op, Body: body}
	}
	for replies := 0; replies < len(requests); {
		f, err := c.Next()
		if err != nil {
			return err
		}
		o := recorded{session: name, kind: Event, frame: f}
		if f.Xid != wire.NotificationXid {
			replies++
			o.kind, o.op = Reply, ops[f.Xid]
			r.note(sent[f.Xid], f)
		}
		r.add(o)
	}
	return nil
}

// setRelativeZxid replaces a number of steps by the zxid at that step.
func (r *run) setRelativeZxid(body wire.Record) {
	back := func(zxid *int64) {
		if i := len(r.steps) - 1 - int(*zxid); i >= 0 {
			*zxid = r.steps[i].after
		} else {
			*zxid = 0
		}
	}
	switch q := body.(type) {
	case *wire.SetWatchesRequest:
		back(&q.RelativeZxid)
	case *wire.SetWatches2Request:
		back(&q.RelativeZxid)
	}
}

// end closes the remaining sessions.
func (r *run) end(ctx context.Context) {
	for _, a := range r.actors {
		if a.session.ID == 0 {
			continue
		}
		if a.client == nil {
			c, err := Dial(ctx, r.target.addresses[a.server], a.session, patience)
			if err != nil {
				continue // it expires
			}
			a.client = c
		}
		if _, err := a.client.Send(wire.CloseSession, nil, 0); err == nil {
			_, _ = a.client.AwaitClosed() // its answers are no part of the program
		}
		a.drop()
	}
}
