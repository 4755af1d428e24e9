package fidelity

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// patience is how long a server may take for an answer.
const patience = 10 * time.Second

// Target is an ensemble that programs run on, one after the other.
type Target struct {
	addresses []string
	name      string    // what its nodes' names begin with
	runs      int       // how many programs have run
	observers []*Client // one on each server, of the target's own
}

// Open connects to the servers at these addresses. Where leader and followers differ,
// two targets are compared by role: give the leader's address first.
func Open(ctx context.Context, addresses []string) (*Target, error) {
	t := &Target{addresses: addresses, name: fmt.Sprintf("/fidelity-%08x", rand.Uint32()), observers: make([]*Client, len(addresses))}
	if err := t.barrier(ctx); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Close ends the target's own sessions. The servers go on.
func (t *Target) Close() {
	for _, o := range t.observers {
		if o == nil {
			continue
		}
		if _, err := o.Send(wire.CloseSession, nil, 0); err == nil {
			_, _ = o.AwaitClosed() // a session that stays expires
		}
		o.Close()
	}
}

// barrier returns when each server has made all changes that the leader had ordered.
func (t *Target) barrier(ctx context.Context) error {
	for i := range t.observers {
		if _, err := t.ask(ctx, i, wire.Sync, &wire.Path{Path: "/"}); err != nil {
			return err
		}
	}
	return nil
}

// zxid is the last that the leader has ordered, after a barrier.
func (t *Target) zxid() int64 {
	var last int64
	for _, o := range t.observers {
		last = max(last, o.Session.LastZxid)
	}
	return last
}

// ask sends a request of the target's own to a server. An observer whose connection has
// ended gets another session.
func (t *Target) ask(ctx context.Context, server int, op wire.Op, body wire.Record) (Frame, error) {
	for try := 0; ; try++ {
		o := t.observers[server]
		if o == nil || o.Closed() {
			var err error
			if o, err = Dial(ctx, t.addresses[server], Session{}, patience); err != nil {
				return Frame{}, fmt.Errorf("observe: %w", err)
			}
			t.observers[server] = o
		}
		xid, err := o.Send(op, body, 0)
		if err == nil {
			var frames []Frame
			if frames, err = o.Await(xid); err == nil {
				return frames[len(frames)-1], nil
			}
		}
		if !errors.Is(err, ErrClosed) || try == 1 {
			return Frame{}, fmt.Errorf("observe %s: %w", t.addresses[server], err)
		}
	}
}

var open = []wire.ACL{{Perms: wire.PermAll, ID: wire.ID{Scheme: "world", ID: "anyone"}}}

// newRoot creates the node under which a program keeps its nodes.
func (t *Target) newRoot(ctx context.Context) (string, error) {
	t.runs++
	root := fmt.Sprintf("%s-%06d", t.name, t.runs)
	f, err := t.ask(ctx, 0, wire.Create, &wire.CreateRequest{Path: root, Data: []byte{}, ACL: open})
	if err == nil && f.Err != wire.OK {
		err = fmt.Errorf("create %s: code %d", root, f.Err)
	}
	return root, err
}

// remove deletes a node with all below it. What may not be deleted stays.
func (t *Target) remove(ctx context.Context, path string) error {
	f, err := t.ask(ctx, 0, wire.GetChildren, &wire.PathWatch{Path: path})
	if err != nil {
		return err
	}
	var list wire.ChildrenReply
	if f.Err == wire.OK {
		if _, err := wire.Decode(f.Body, &list); err != nil {
			return err
		}
	}
	for _, child := range list.Children {
		if err := t.remove(ctx, path+"/"+child); err != nil {
			return err
		}
	}
	_, err = t.ask(ctx, 0, wire.Delete, &wire.PathVersion{Path: path, Version: -1})
	return err
}

// stat returns a node's stat, false if there is no node.
func (t *Target) stat(ctx context.Context, path string) (stat wire.Stat, exists bool, err error) {
	f, err := t.ask(ctx, 0, wire.Exists, &wire.PathWatch{Path: path})
	if err != nil || f.Err != wire.OK {
		return stat, false, err
	}
	_, err = wire.Decode(f.Body, &stat)
	return stat, true, err
}
