package model_test

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// settle waits until the servers and sessions know all changes of a step.
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
	xids := make([]int32, len(r.actors))
	for i, a := range r.actors {
		if a.client == nil {
			continue
		}
		var err error
		if xids[i], err = a.client.Send(wire.Sync, &wire.Path{Path: r.root}, 0); err != nil {
			if err = r.lost(a, err); err != nil {
				return err
			}
		}
	}
	for i, a := range r.actors {
		if a.client == nil {
			continue
		}
		if err := r.lost(a, r.awaitSync(a, xids[i])); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) awaitSync(a *actor, xid int32) error {
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

// shortTTL bounds the time to live that a program waits for.
const shortTTL = time.Second

// perishable is a node that the server deletes on its own.
type perishable struct {
	czxid     int64 // tells it from another node of the path
	container bool  // deleted once it has lost its children; others, once they have none
}

// note remembers the node that a request has created if the server deletes it on its own.
// The operation decides that, not the flags.
func (r *run) note(q Request, f Frame) {
	reply := wire.NewReply(q.Op)
	if reply == nil || len(f.Body) == 0 {
		return
	}
	if _, err := wire.Decode(f.Body, reply); err != nil {
		return // the transcript shows it
	}
	if m, ok := q.Body.(*wire.MultiRequest); ok {
		results := reply.(*wire.MultiReply).Results
		for i, p := range m.Parts[:min(len(m.Parts), len(results))] {
			r.noteCreated(p.Op, p.Body, results[i].Body, f.Zxid)
		}
		return
	}
	r.noteCreated(q.Op, q.Body, reply, f.Zxid)
}

func (r *run) noteCreated(op wire.Op, request, reply wire.Record, zxid int64) {
	created, ok := reply.(*wire.CreateReply)
	if !ok {
		return
	}
	ttl, ok := request.(*wire.CreateTTLRequest)
	switch {
	case op == wire.CreateContainer:
		r.perishable[created.Path] = perishable{zxid, true}
	case ok && time.Duration(ttl.TTL)*time.Millisecond <= shortTTL:
		r.perishable[created.Path] = perishable{zxid, false}
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

// awaitDelete waits until a node is gone, if the server is to delete it. It reports
// whether the node is gone, and whether the server kept it too long.
func (r *run) awaitDelete(ctx context.Context, path string) (gone, kept bool, err error) {
	for deadline := time.Now().Add(patience); ; {
		stat, exists, err := r.target.stat(ctx, path)
		node := r.perishable[path]
		switch {
		case err != nil || !exists || stat.Czxid != node.czxid:
			return true, false, err
		case stat.NumChildren > 0 || node.container && stat.Cversion == 0:
			return false, false, nil
		case time.Now().After(deadline):
			return false, true, nil
		}
		time.Sleep(5 * time.Millisecond) // no event announces that a server is about to delete a node
	}
}
