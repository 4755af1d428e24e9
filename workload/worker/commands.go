package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
)

// do carries out a command to an open client.
func (h *hosted) do(ctx context.Context, c protocol.Command) (protocol.Line, *hostedLease, error) {
	switch c.Do {
	case string(histories.Acquire), string(histories.TryAcquire):
		return h.granted(h.acquire(ctx, c))
	case protocol.DoReenter:
		return h.granted(h.reenter(ctx, c))
	case string(histories.Release), protocol.DoValid, protocol.DoListen, protocol.DoSet, string(histories.Leave):
		l, err := h.w.lease(c.Lease)
		if err != nil {
			return protocol.Line{}, nil, err
		}
		return h.ofLease(ctx, c, l)
	case protocol.DoHolder, string(histories.Revoke):
		return h.revocation(ctx, c)
	case string(histories.SetSize):
		t, ok := h.target.(lock.SharedSemaphoreLocker)
		if !ok {
			return protocol.Line{}, nil, lock.Missing(histories.SharedSemaphore)
		}
		return protocol.Line{}, nil, t.SharedSemaphore().SetSize(ctx, c.Lock, c.Size)
	case string(histories.Observe):
		t, err := lock.ElectorOf(h.target)
		if err != nil {
			return protocol.Line{}, nil, err
		}
		return protocol.Line{}, nil, t.Observe(ctx, c.Lock, func(token histories.Token) bool {
			h.w.say(protocol.Line{Event: protocol.SayObserved, ID: c.ID, Token: token})
			return true
		})
	case string(histories.Set), string(histories.Remove), string(histories.Wait):
		return protocol.Line{}, nil, h.barrier(ctx, c)
	case string(histories.Enter):
		t, ok := h.target.(lock.DoubleBarrierClient)
		if !ok {
			return protocol.Line{}, nil, lock.Missing(histories.DoubleBarrier)
		}
		member, err := t.EnterBarrier(ctx, c.Lock)
		if err != nil {
			return protocol.Line{}, nil, err
		}
		return protocol.Line{}, &hostedLease{member: member}, nil
	}
	return protocol.Line{}, nil, fmt.Errorf("unknown command %q", c.Do)
}

// granted answers an acquire.
func (h *hosted) granted(lease lock.Lease, err error) (protocol.Line, *hostedLease, error) {
	if err != nil {
		return protocol.Line{}, nil, err
	}
	session, _, _ := h.wire.Credentials()
	if s, ok := lease.(lock.Sessioned); ok {
		session = s.SessionID()
	}
	answer := protocol.Line{Session: lock.SessionName(session)}
	if m, ok := lease.(lock.MultiLease); ok {
		answer.Tokens = m.Tokens()
	} else {
		answer.Token = lease.Token()
	}
	return answer, &hostedLease{lease: lease}, nil
}

func (h *hosted) acquire(ctx context.Context, c protocol.Command) (lock.Lease, error) {
	wait := c.Do == string(histories.Acquire)
	if len(c.Locks) > 0 {
		t, ok := h.target.(lock.MultiLocker)
		switch {
		case !ok:
			return nil, lock.Missing(histories.MultiLock)
		case wait:
			return lock.AsLease(t.AcquireAll(ctx, c.Locks))
		}
		return lock.AsLease(t.TryAcquireAll(ctx, c.Locks))
	}
	if c.Recipe.HasPermits() {
		t, err := lock.PermitsOf(h.target, c.Recipe)
		switch {
		case err != nil:
			return nil, err
		case wait:
			return t.AcquireN(ctx, c.Lock, c.Permits)
		}
		return t.TryAcquireN(ctx, c.Lock, c.Permits)
	}
	t, err := lock.LockerOf(h.target, c.Recipe, c.Mode)
	switch {
	case err != nil:
		return nil, err
	case wait:
		return t.Acquire(ctx, c.Lock)
	}
	return t.TryAcquire(ctx, c.Lock)
}

func (h *hosted) reenter(ctx context.Context, c protocol.Command) (lock.Lease, error) {
	held, err := h.w.lease(c.Lease)
	if err != nil {
		return nil, err
	}
	t, err := lock.LockerOf(h.target, c.Recipe, c.Mode)
	if err != nil {
		return nil, err
	}
	r, ok := t.(lock.Reenterer)
	if !ok || held.lease == nil {
		return nil, fmt.Errorf("a %s cannot be acquired again by its lease", c.Recipe)
	}
	return r.Reenter(ctx, c.Lock, held.lease)
}

func (h *hosted) ofLease(ctx context.Context, c protocol.Command, l *hostedLease) (protocol.Line, *hostedLease, error) {
	switch {
	case c.Do == string(histories.Leave) && l.member != nil:
		err := l.member.Leave(ctx)
		h.w.forget(func(id int64, _ *hostedLease) bool { return id == c.Lease })
		return protocol.Line{}, nil, err
	case l.lease == nil:
		return protocol.Line{}, nil, fmt.Errorf("%s of %d, which is no lease", c.Do, c.Lease)
	case c.Do == protocol.DoValid:
		return protocol.Line{Valid: l.lease.Valid()}, nil, nil
	case c.Do == protocol.DoSet:
		g, ok := l.lease.(lock.GuardedLease)
		if !ok {
			return protocol.Line{}, nil, errors.New("the target guards no writes")
		}
		return protocol.Line{}, nil, g.SetGuarded(ctx, c.Node, []byte(c.Data))
	case c.Do == protocol.DoListen:
		r, ok := l.lease.(lock.RevocableLease)
		if !ok {
			return protocol.Line{}, nil, lock.Missing(histories.Revocation)
		}
		r.OnRevoke(func() { h.w.say(protocol.Line{Event: protocol.SayRevokeRequested, Lease: c.Lease}) })
		return protocol.Line{}, nil, nil
	case c.Do == string(histories.Release):
		err := l.lease.Release(ctx)
		h.w.forget(func(id int64, _ *hostedLease) bool { return id == c.Lease })
		return protocol.Line{}, nil, err
	}
	return protocol.Line{}, nil, fmt.Errorf("%s of a lease", c.Do)
}

func (h *hosted) revocation(ctx context.Context, c protocol.Command) (protocol.Line, *hostedLease, error) {
	t, ok := h.target.(lock.RevocableLocker)
	if !ok {
		return protocol.Line{}, nil, lock.Missing(histories.Revocation)
	}
	if c.Do == string(histories.Revoke) {
		return protocol.Line{}, nil, t.Revocable().Revoke(ctx, c.Node)
	}
	token, node, err := t.Revocable().Holder(ctx, c.Lock)
	return protocol.Line{Token: token, Node: node}, nil, err
}

func (h *hosted) barrier(ctx context.Context, c protocol.Command) error {
	t, ok := h.target.(lock.BarrierClient)
	if !ok {
		return lock.Missing(histories.Barrier)
	}
	switch c.Do {
	case string(histories.Set):
		return t.SetBarrier(ctx, c.Lock)
	case string(histories.Remove):
		return t.RemoveBarrier(ctx, c.Lock)
	}
	return t.WaitBarrier(ctx, c.Lock)
}
