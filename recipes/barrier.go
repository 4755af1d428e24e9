package recipes

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Barrier makes processes wait while its node exists, as Curator's DistributedBarrier does. The
// node is persistent: it belongs to no session, and outlives the process that set it.
type Barrier struct {
	client *Client
	path   string
	cfg    lockConfig
}

// NewBarrier returns the barrier whose node is at path. The options apply to that node.
func NewBarrier(client *Client, path string, options ...LockOption) *Barrier {
	return &Barrier{client: client, path: client.resolve(path), cfg: newLockConfig(client, "Barrier", options)}
}

// Path returns the barrier's path.
func (b *Barrier) Path() string { return b.path }

// Set puts the barrier up. It returns nil if another client has put it up already. A Remove that
// runs at the same time may take effect before or after Set. When ctx ends, a request that is
// still under way may take effect after the return.
func (b *Barrier) Set(ctx context.Context) error {
	return b.do(ctx, "set", b.set)
}

// Remove takes down the barrier that is up when it is called, so that all waiting processes pass,
// and returns nil if none is up. The end of ctx: see Set.
func (b *Barrier) Remove(ctx context.Context) error {
	var first int64
	return b.do(ctx, "remove", func(ctx context.Context, s *session.Session) error { return b.remove(ctx, s, &first) })
}

// Wait returns when the barrier is not up, or has not been at some instant since Wait was called,
// also if it was put up again right after its removal. It asks the leader before it returns, since
// a server may lag behind, and continues across the loss of connections and sessions.
func (b *Barrier) Wait(ctx context.Context) error {
	var first int64
	return b.do(ctx, "wait", func(ctx context.Context, s *session.Session) error { return b.wait(ctx, s, &first) })
}

// do runs one call of the barrier, in as many sessions as it takes.
func (b *Barrier) do(ctx context.Context, op string, step func(context.Context, *session.Session) error) error {
	err := cmp.Or(b.cfg.bad, session.CheckPath(b.path))
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = b.client.sessions.Through(ctx, func(s *session.Session) error { return step(ctx, s) })
	}
	if err != nil {
		return b.client.failed(ctx, op, b.path, err)
	}
	return nil
}

func (b *Barrier) set(ctx context.Context, s *session.Session) (err error) {
	var parents session.Parents
	defer func() {
		if err != nil {
			parents.Unused(s)
		}
	}()
	for {
		_, err := session.Retry(ctx, s, func() (string, error) {
			return s.Conn.Create(b.path, b.cfg.data, 0, b.cfg.acl)
		})
		switch {
		case err == nil, errors.Is(err, zk.ErrNodeExists):
			return nil
		case !errors.Is(err, zk.ErrNoNode):
			return err
		}
		// This happens also when a container was reaped just now (CURATOR-180).
		if err := parents.Create(ctx, s, b.path[:strings.LastIndexByte(b.path, '/')]); err != nil {
			return err
		}
	}
}

// remove deletes at most one node, and stores the node's czxid in first: a delete without an
// answer is repeated only for the same node. Otherwise it could take down a barrier that was put
// up since, as a lock's late delete hits the next holder (etcd #22082).
func (b *Barrier) remove(ctx context.Context, s *session.Session, first *int64) error {
	for pace := session.Changed(); ; {
		stat, err := b.standing(ctx, s)
		switch {
		case err != nil:
			return err
		case stat == nil, *first != 0 && stat.Czxid != *first:
			return nil
		}
		*first = stat.Czxid
		_, err = session.Call(ctx, s, func() (struct{}, error) { return struct{}{}, s.Conn.Delete(b.path, -1) }, nil)
		switch {
		case err == nil, errors.Is(err, zk.ErrNoNode):
			return nil
		case session.Answered(err), ctx.Err() != nil:
			return err
		}
		if err := pace.Wait(ctx, s); err != nil {
			return err
		}
		if err := s.AwaitUp(ctx); err != nil {
			return err
		}
	}
}

// wait stores in first the czxid of the node that it waits for. A missing node and a newer node
// both prove that the barrier has been down.
func (b *Barrier) wait(ctx context.Context, s *session.Session, first *int64) error {
	for pace := session.Changed(); ; {
		var stat *zk.Stat
		var err error
		if *first != 0 {
			stat, err = statOf(ctx, s, b.path)
		}
		if err == nil && stat == nil {
			stat, err = b.standing(ctx, s)
		}
		switch {
		case err != nil:
			return err
		case stat == nil, *first != 0 && stat.Czxid > *first:
			return nil
		case *first == 0:
			*first = stat.Czxid // an older one comes from a server that lags
		}
		if err := session.AwaitNode(ctx, s, b.path, stat.Czxid, pace); err != nil {
			return err
		}
	}
}

// standing returns the stat of the barrier's node, or nil when the leader answers that there is
// none.
func (b *Barrier) standing(ctx context.Context, s *session.Session) (*zk.Stat, error) {
	for pace := session.Changed(); ; {
		up, err := session.Stands(ctx, s, b.path)
		if err != nil || !up {
			return nil, err
		}
		// The session's server has caught up with the leader's answer.
		if stat, err := statOf(ctx, s, b.path); err != nil || stat != nil {
			return stat, err
		}
		if err := pace.Wait(ctx, s); err != nil {
			return nil, err
		}
	}
}

// statOf returns the node's stat, or nil when the session's server has no such
// node.
func statOf(ctx context.Context, s *session.Session, path string) (*zk.Stat, error) {
	return session.Retry(ctx, s, func() (*zk.Stat, error) {
		ok, stat, err := s.Conn.Exists(path)
		if err != nil || !ok {
			return nil, err
		}
		return stat, nil
	})
}
