package recipes

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/zkverify/zkverify/recipes/internal/queue"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Code that the acquires of all recipes share.

// begin checks the arguments of an acquire and returns the key of the hold that the acquire is to
// make.
func (c *Client) begin(ctx context.Context, cfg lockConfig, path, kind string) (ownership, error) {
	if err := cmp.Or(cfg.bad, session.CheckPath(path)); err != nil {
		return ownership{}, err
	}
	o := ownerOf(ctx)
	if err := checkOwner(o, path); err != nil {
		return ownership{}, err
	}
	if ctx.Err() != nil {
		return ownership{}, context.Cause(ctx)
	}
	if o.id == "" {
		o.id = session.NewGUID()
	}
	return ownership{path, o.id, kind}, nil
}

// inSession attempts to get a hold in the current session. It tries again, in the next session if
// need be, when the session has ended or another client has deleted the contender's node.
func (c *Client) inSession(ctx context.Context, attempt func(*session.Session) (*hold, error)) (*hold, error) {
	for pace := session.Changed(); ; {
		s, err := c.sessions.Get(ctx)
		if err != nil {
			return nil, err
		}
		h, err := attempt(s)
		if !errors.Is(err, session.ErrEnded) && !errors.Is(err, session.ErrNodeGone) {
			return h, err
		}
		if err := pace.Wait(ctx, s); err != nil && !errors.Is(err, session.ErrEnded) {
			return nil, err
		}
	}
}

// acquiring tells the observer that an acquire contends. The acquire continues with the returned
// context, and calls gaveUp with its error, or nil, when it ends.
func (c *Client) acquiring(ctx context.Context, path, recipe string, asked time.Time) (_ context.Context, gaveUp func(error)) {
	a := Acquiring{path, recipe, asked}
	if f := c.cfg.observer.Acquiring; f != nil {
		ctx = f(ctx, a)
	}
	return ctx, func(err error) {
		if f := c.cfg.observer.GaveUp; f != nil && err != nil {
			f(ctx, a, err)
		}
	}
}

// announce tells the observer that a contender has a place in a queue.
func (c *Client) announce(ctx context.Context, path string, k *queue.Contender, token Token) {
	if f := c.cfg.observer.Enqueued; f != nil {
		f(ctx, Enqueued{Path: path, Node: k.Node, Token: token, Ahead: k.Ahead(ctx), Session: k.S.ID})
	}
}

// startHold starts the lease of a contender whose turn it is, as soon as the session is known to
// be alive: the answer that gave the contender its turn may have come from a server that had not
// heard that the session expired meanwhile (etcd #11456).
func (c *Client) startHold(ctx context.Context, on queue.Grant, key ownership, revoked func(*Lease), asked time.Time) (*hold, error) {
	for {
		if err := on.S.AwaitEvidence(ctx, on.Nodes[0]); err != nil {
			return nil, err
		}
		if c.cfg.LoseOnSuspend {
			if err := on.S.AwaitUp(ctx); err != nil {
				return nil, err
			}
		}
		h, err := newHold(ctx, c.holds, on, key, revoked, asked)
		if !errors.Is(err, session.ErrNotNow) {
			return h, err
		}
	}
}

// do implements Do for every recipe.
func do[L interface {
	Context() context.Context
	Release(context.Context) error
}](ctx context.Context, acquire func(context.Context) (L, error), f func(context.Context, L) error) error {
	lease, err := acquire(ctx)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithCancelCause(lease.Context())
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	defer func() {
		stop()
		cancel(ErrNotHeld)
		lease.Release(ctx) // also when f panics
	}()
	err = f(bounded, lease)
	release := lease.Release(ctx)
	if errors.Is(release, ErrLeaseLost) { // any other error means that ctx has ended and the release continues
		err = andRelease(err, release)
	}
	return err
}

// andRelease returns the error of Do: the function's error joined with the release's. It leaves
// ErrLeaseLost of the release out when the function's error reports the loss already.
func andRelease(err, release error) error {
	switch {
	case err == nil || err == ErrLeaseLost: //nolint:errorlint // the bare cause of a context, which names no lock
		return release
	case release == nil, errors.Is(err, ErrLeaseLost) && errors.Is(release, ErrLeaseLost):
		return err
	}
	return session.Errors{err, release}
}
