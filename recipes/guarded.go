package recipes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Multi carries out ops in one ZooKeeper transaction that succeeds only if the lease's lock node
// exists. It is the fence for data in the same ensemble: even if the holder was paused before or
// during the call, the write takes effect while the holder has the lock, or not at all.
//
// The ops are those of zk.Conn.Multi: *zk.CreateRequest, *zk.SetDataRequest, *zk.DeleteRequest and
// *zk.CheckVersionRequest, with full paths, also under [WithNamespace]. Multi returns their
// responses. Call Release when Multi has returned, not before.
//
// Errors: [ErrLeaseLost] and [ErrNotHeld] when the lease is over, or ends during the call; the
// error of the first op that failed, such as zk.ErrBadVersion; zk.ErrNoAuth names the node and the
// permission. With an error nothing was written, unless it is also [ErrOutcomeUnknown].
func (l *Lease) Multi(ctx context.Context, ops ...any) ([]zk.MultiResponse, error) {
	responses, err := guarded(ctx, []*Lease{l}, ops)
	if err != nil {
		return responses, opError("multi", l.Path(), l.hold.registry.sessions.Explain(ctx, err))
	}
	return responses, nil
}

// Multi is [Lease.Multi] for all the leases: the transaction succeeds only if all the locks are
// held.
func (g *MultiLease) Multi(ctx context.Context, ops ...any) ([]zk.MultiResponse, error) {
	responses, err := guarded(ctx, g.leases, ops)
	if err != nil {
		var paths []string
		for _, l := range g.leases {
			paths = append(paths, l.Path())
		}
		return responses, opError("multi", strings.Join(paths, ", "), g.leases[0].hold.registry.sessions.Explain(ctx, err))
	}
	return responses, nil
}

// guarded carries out ops if all the nodes of the leases exist. A lock node's name holds a random
// guid. While the node exists, the servers grant the lock to no other session; while a guarded
// request is under way, the client grants it to no other contender of this session.
func guarded(ctx context.Context, leases []*Lease, ops []any) ([]zk.MultiResponse, error) {
	s := leases[0].hold.S
	var checks []any
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, l := range leases {
		if err := l.usable(); err != nil {
			return nil, err
		}
		if l.hold.S != s {
			return nil, ErrLeaseLost // a client has one session at a time
		}
		defer context.AfterFunc(l.ctx, func() { cancel(context.Cause(l.ctx)) })()
		for _, node := range l.hold.Nodes {
			checks = append(checks, &zk.CheckVersionRequest{Path: node, Version: -1}) // a revocation changes the version
		}
	}
	ops = append(checks, ops...)
	type answer struct {
		responses []zk.MultiResponse
		err       error
	}
	for {
		over, err := writing(leases)
		if err != nil {
			return nil, err
		}
		a, gone := session.Call(ctx, s, func() (answer, error) {
			responses, err := session.Ask(s, func() ([]zk.MultiResponse, error) { return s.Conn.Multi(ops...) })
			if err == nil || session.Undone(err) {
				over()
			} else {
				session.Settle(s, leases[0].Path(), over) // a server may have it, and carry it out later
			}
			for i := range responses {
				responses[i].Error = session.Outcome(responses[i].Error)
			}
			return answer{responses, err}, nil
		}, func(_ answer, err error) {
			if err != nil {
				over() // the request was never sent
			}
		})
		if errors.Is(gone, session.ErrEnded) {
			over() // the servers carry out no more requests of the session
		}
		var own []zk.MultiResponse
		if len(a.responses) == len(ops) {
			own = a.responses[len(checks):]
		}
		switch {
		case gone != nil: // ctx or the session has ended
			return nil, fmt.Errorf("%w: %w", ErrOutcomeUnknown, lostWith(gone))
		case a.err == nil:
			return own, nil
		case errors.Is(a.err, zk.ErrNoServer): // the request was never sent
			if err := s.AwaitUp(ctx); err != nil {
				return nil, lostWith(err)
			}
		case !session.Undone(a.err):
			return nil, fmt.Errorf("%w: %w", ErrOutcomeUnknown, a.err)
		case refused(a.responses, len(checks)):
			s.Nudge() // let the heartbeat find out as well
			return nil, fmt.Errorf("%w: a lock node is gone", ErrLeaseLost)
		default:
			for i, r := range a.responses {
				if i < len(ops) && errors.Is(r.Error, zk.ErrNoAuth) {
					return own, session.Refused(a.err, ops[i])
				}
			}
			return own, a.err
		}
	}
}

// writing notes that a guarded request is under way, until over is called. Until then the lock is
// not granted to the next contender: the request may be carried out after its caller has given
// up, or after its connection has broken.
func writing(leases []*Lease) (over func(), err error) {
	var holds []*hold
	over = sync.OnceFunc(func() {
		for _, h := range holds {
			h.writes.Done()
		}
	})
	for _, l := range leases {
		h := l.hold
		h.mu.Lock()
		ended, lost := h.over, h.isLost
		if !ended {
			h.writes.Add(1)
			holds = append(holds, h)
		}
		h.mu.Unlock()
		if ended {
			over()
			if lost {
				return nil, ErrLeaseLost
			}
			return nil, ErrNotHeld
		}
	}
	return over, nil
}

// refused reports whether one of the first n operations failed because its node does not exist.
func refused(responses []zk.MultiResponse, n int) bool {
	for _, r := range responses[:min(n, len(responses))] {
		if errors.Is(r.Error, zk.ErrNoNode) {
			return true
		}
	}
	return false
}

// lostWith returns ErrLeaseLost for the end of a lease's session, and other errors as they are.
func lostWith(err error) error {
	if errors.Is(err, session.ErrEnded) {
		return ErrLeaseLost
	}
	return err
}

// usable returns the reason why the lease must not be used, or nil.
func (l *Lease) usable() error {
	switch l.State() {
	case Lost:
		return ErrLeaseLost
	case Released:
		return ErrNotHeld
	}
	return nil
}
