package fidelity

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// settle waits until the servers and sessions know all that a step has changed.
func (r *run) settle(ctx context.Context) error {
	now := &r.steps[len(r.steps)-1]
	now.acted = len(now.seen)
	if err := r.barrier(ctx); err != nil {
		return err
	}
	deleted, err := r.awaitDeletes(ctx)
	if err != nil || !deleted {
		return err
	}
	return r.barrier(ctx)
}

// barrier synchronizes each session's server with the leader and reads the
// notifications that have come until then.
func (r *run) barrier(ctx context.Context) error {
	if err := r.target.barrier(ctx); err != nil {
		return err
	}
	for _, a := range r.actors {
		if a.client == nil {
			continue
		}
		if err := r.lost(a, r.sync(a)); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) sync(a *actor) error {
	xid, err := a.client.Send(wire.Sync, &wire.Path{Path: r.root}, 0)
	if err != nil {
		return err
	}
	frames, err := a.client.Await(xid)
	for _, f := range frames {
		switch {
		case f.Xid == wire.NotificationXid:
			r.add(recorded{session: a.name, kind: Event, frame: f})
		case f.Xid != xid || f.Err != wire.OK:
			r.add(recorded{session: a.name, kind: Reply, op: wire.Sync, frame: f})
		}
	}
	return err
}

// shortTTL is the longest time to live that a program waits for.
const shortTTL = time.Second

// note remembers what a request has created if the server deletes it some time.
func (r *run) note(q Request, f Frame) {
	if f.Err != wire.OK {
		return
	}
	parts := []wire.Part{{Op: q.Op, Body: q.Body}}
	if m, ok := q.Body.(*wire.MultiRequest); ok {
		parts = m.Parts
	}
	for _, p := range parts {
		switch b := p.Body.(type) {
		case *wire.CreateRequest:
			if p.Op == wire.CreateContainer || b.Flags == wire.FlagContainer {
				r.perishable[b.Path] = 0
			}
		case *wire.CreateTTLRequest:
			if ttl := time.Duration(b.TTL) * time.Millisecond; ttl <= shortTTL {
				r.perishable[b.Path] = ttl
			}
		}
	}
}

// awaitDeletes waits until the servers have deleted the containers that have lost their
// children, and the nodes whose time to live is over. It reports whether there were any.
func (r *run) awaitDeletes(ctx context.Context) (deleted bool, err error) {
	for _, path := range slices.Sorted(maps.Keys(r.perishable)) {
		gone, kept, err := r.awaitDelete(ctx, path)
		if err != nil {
			return deleted, err
		}
		if kept {
			r.add(recorded{kind: Kept, text: printer{root: r.root}.path(path)})
		}
		if gone || kept {
			delete(r.perishable, path)
		}
		deleted = deleted || gone
	}
	return deleted, nil
}

// awaitDelete waits until a node is gone, if the server is to delete it. It reports that
// it is gone, or that it was kept too long.
func (r *run) awaitDelete(ctx context.Context, path string) (gone, kept bool, err error) {
	for deadline := time.Now().Add(patience); ; {
		stat, exists, err := r.target.stat(ctx, path)
		container := r.perishable[path] == 0
		switch {
		case err != nil || !exists:
			return true, false, err
		case stat.NumChildren > 0 || container && stat.Cversion == 0 || stat.EphemeralOwner == 0:
			return false, false, nil
		case time.Now().After(deadline):
			return false, true, nil
		}
		time.Sleep(5 * time.Millisecond) // nothing tells that a server is about to delete a node
	}
}
