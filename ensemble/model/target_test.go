package model_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// patience is the time that a server may take for an answer.
const patience = 30 * time.Second

// Target is an ensemble that programs run on, one after the other.
type Target struct {
	addresses []string
	name      string    // prefix of its nodes' names
	runs      int       // number of programs that have run
	observers []*Client // one on each server, of the target's own
	stop      func()    // ends the goroutines of nudge, and waits for them
}

// Open connects to the servers at these addresses. Give the leader's address first: where
// leader and followers differ, two targets are compared by role.
func Open(ctx context.Context, addresses []string) (*Target, error) {
	t := &Target{addresses: addresses, name: fmt.Sprintf("/fidelity-%08x", rand.Uint32()), observers: make([]*Client, len(addresses))}
	ctx, cancel := context.WithCancel(ctx)
	var nudging sync.WaitGroup
	for _, address := range addresses {
		nudging.Go(func() { nudge(ctx, address) })
	}
	t.stop = func() { cancel(); nudging.Wait() }
	if err := t.barrier(ctx); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// nudge sends pings to a server until ctx ends. A server of 3.8.0 that gets one request
// at a time forgets a request once in some 10,000, until the next one wakes it up:
// CommitProcessor.run looks at its queues before it takes the lock under which it waits.
func nudge(ctx context.Context, address string) {
	var c *Client
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			if c != nil {
				_, _ = c.Send(wire.CloseSession, nil, 0) // a session that stays expires
				c.Close()
			}
			return
		case <-tick.C:
		}
		if c == nil {
			var err error
			if c, err = Dial(ctx, address, Session{}, patience); err != nil {
				c = nil
				continue // the program's own requests find the error
			}
		}
		if _, err := c.Send(wire.Ping, nil, 0); err == nil {
			if _, err = c.Await(wire.PingXid); err == nil {
				continue
			}
		}
		c.Close()
		c = nil
	}
}

// Close ends the target's own sessions. The servers keep running.
func (t *Target) Close() {
	t.stop()
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

// barrier returns when each server has applied all changes that the leader had ordered.
func (t *Target) barrier(ctx context.Context) error {
	return t.askAll(ctx, wire.Sync, &wire.Path{Path: "/"})
}

// askAll sends a request of the target's own to all servers at once.
func (t *Target) askAll(ctx context.Context, op wire.Op, body wire.Record) error {
	for try := 0; ; try++ {
		err := t.askOnce(ctx, op, body)
		if !errors.Is(err, ErrClosed) || try == 1 {
			return err
		}
	}
}

func (t *Target) askOnce(ctx context.Context, op wire.Op, body wire.Record) error {
	xids := make([]int32, len(t.observers))
	for i := range t.observers {
		o, err := t.observer(ctx, i)
		if err != nil {
			return err
		}
		if xids[i], err = o.Send(op, body, 0); err != nil {
			return fmt.Errorf("observe %s: %w", t.addresses[i], err)
		}
	}
	for i, o := range t.observers {
		if _, err := o.Await(xids[i]); err != nil {
			return fmt.Errorf("observe %s: %w", t.addresses[i], err)
		}
	}
	return nil
}

// observer returns the target's own client at a server. If its connection has ended, it
// opens another session.
func (t *Target) observer(ctx context.Context, server int) (*Client, error) {
	if o := t.observers[server]; o != nil && !o.Closed() {
		return o, nil
	}
	o, err := Dial(ctx, t.addresses[server], Session{}, patience)
	if err != nil {
		return nil, fmt.Errorf("observe: %w", err)
	}
	t.observers[server] = o
	return o, nil
}

// zxid returns the last zxid that the leader has ordered, after a barrier.
func (t *Target) zxid() int64 {
	var last int64
	for _, o := range t.observers {
		last = max(last, o.Session.LastZxid)
	}
	return last
}

// ask sends a request of the target's own to the first server.
func (t *Target) ask(ctx context.Context, op wire.Op, body wire.Record) (Frame, error) {
	for try := 0; ; try++ {
		o, err := t.observer(ctx, 0)
		if err != nil {
			return Frame{}, err
		}
		xid, err := o.Send(op, body, 0)
		if err == nil {
			var frames []Frame
			if frames, err = o.Await(xid); err == nil {
				return frames[len(frames)-1], nil
			}
		}
		if !errors.Is(err, ErrClosed) || try == 1 {
			return Frame{}, fmt.Errorf("observe %s: %w", t.addresses[0], err)
		}
	}
}

var open = []wire.ACL{{Perms: wire.PermAll, ID: wire.ID{Scheme: "world", ID: "anyone"}}}

// newRoot creates a node for a program's nodes, under a parent of its own: a program may
// create nodes beside its root.
func (t *Target) newRoot(ctx context.Context) (string, error) {
	t.runs++
	path := fmt.Sprintf("%s-%06d", t.name, t.runs)
	for _, path := range []string{path, path + "/r"} {
		f, err := t.ask(ctx, wire.Create, &wire.CreateRequest{Path: path, Data: []byte{}, ACL: open})
		if err == nil && f.Err != wire.OK {
			err = fmt.Errorf("create %s: code %d", path, f.Err)
		}
		if err != nil {
			return "", err
		}
	}
	return path + "/r", nil
}

// remove deletes a node with all nodes below it. Nodes that may not be deleted stay.
func (t *Target) remove(ctx context.Context, path string) error {
	f, err := t.ask(ctx, wire.GetChildren, &wire.PathWatch{Path: path})
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
	_, err = t.ask(ctx, wire.Delete, &wire.PathVersion{Path: path, Version: -1})
	return err
}

// stat returns a node's stat, false if there is no node.
func (t *Target) stat(ctx context.Context, path string) (stat wire.Stat, exists bool, err error) {
	f, err := t.ask(ctx, wire.Exists, &wire.PathWatch{Path: path})
	if err != nil || f.Err != wire.OK {
		return stat, false, err
	}
	_, err = wire.Decode(f.Body, &stat)
	return stat, true, err
}
