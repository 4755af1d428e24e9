package model_test

import (
	"context"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// leave closes the actor's session on its own connection.
func (r *run) leave(a *actor) error {
	if a.client == nil {
		return nil
	}
	err := r.exchange(a.name, a.client, []Request{{Op: wire.CloseSession}})
	if err == nil {
		err = r.untilClosed(a.name, a.client)
	}
	r.forget(a)
	if err != nil {
		return r.failed(a.name, err)
	}
	return nil
}

// untilClosed records the frames that come until the server closes the connection.
func (r *run) untilClosed(name string, c *Client) error {
	frames, err := c.AwaitClosed()
	for _, f := range frames {
		r.add(recorded{session: name, kind: Event, frame: f})
	}
	if err == nil {
		r.add(recorded{session: name, kind: Closed})
	}
	return err
}

// forget prepares the actor for a new session, with a name of its own.
func (r *run) forget(a *actor) {
	a.drop()
	a.session = Session{LastZxid: a.session.LastZxid}
	a.name += "'"
}

// steal reconnects the actor's session at a server while its old connection is open, and
// sends requests on the old one.
func (r *run) steal(ctx context.Context, a *actor, server int, requests []Request) error {
	if a.client == nil {
		return nil
	}
	old := a.client
	a.session.LastZxid = old.Session.LastZxid
	a.client, a.server = nil, server
	defer old.Close()
	if err := r.connect(ctx, a); err != nil {
		return err
	}
	if err := r.exchange(a.name+" (old connection)", old, requests); err != nil {
		return r.failed(a.name+" (old connection)", err)
	}
	return nil
}

// expire closes the actor's session through another connection. Frames that its own
// connection receives before it is closed are left out: notifications may be lost with
// the connection.
func (r *run) expire(ctx context.Context, a *actor, server int) error {
	if a.client == nil {
		return nil
	}
	other := a.name + " (other connection)"
	session := a.session
	session.LastZxid = a.client.Session.LastZxid
	c, err := Dial(ctx, r.target.addresses[server], session, patience)
	if err != nil {
		return r.failed(other, err)
	}
	defer c.Close()
	if err := r.exchange(other, c, []Request{{Op: wire.CloseSession}}); err != nil {
		return r.failed(other, err)
	}
	if err := r.untilClosed(other, c); err != nil {
		return r.failed(other, err)
	}
	_, err = a.client.AwaitClosed()
	if err == nil {
		err = ErrClosed
	}
	name := a.name
	r.forget(a)
	return r.failed(name, err)
}

// forge asks for the actor's session with a wrong password.
func (r *run) forge(ctx context.Context, a *actor, server int) error {
	name := a.name + " (forged)"
	c, err := Dial(ctx, r.target.addresses[server], Session{
		ID: a.session.ID, Password: []byte(strings.Repeat("x", 16)), LastZxid: a.session.LastZxid,
	}, patience)
	if err != nil {
		return r.failed(name, err)
	}
	if c.Timeout == 0 {
		return r.refused(name, c)
	}
	c.Close()
	r.add(recorded{session: name, kind: Connected})
	return nil
}
