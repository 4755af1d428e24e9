package workload

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// offersOf returns which recipes a client has the methods of.
func offersOf(target Client) (offers []histories.Recipe) {
	for _, info := range Recipes() {
		if info.offered(target) {
			offers = append(offers, info.Recipe)
		}
	}
	return offers
}

// lockerOf returns what gets the locks of a recipe one by one, in a mode if
// there are modes.
func lockerOf(target Client, recipe histories.Recipe, mode histories.Mode) (Locker, error) {
	switch recipe {
	case histories.Mutex:
		return target, nil
	case histories.NonReentrant:
		if t, ok := target.(NonReentrantLocker); ok {
			return t.NonReentrant(), nil
		}
	case histories.ReadWrite:
		if t, ok := target.(ReadWriteLocker); ok {
			read, write := t.ReadWrite()
			if mode == histories.ModeWrite {
				return write, nil
			}
			return read, nil
		}
	case histories.MultiLock:
		if t, ok := target.(MultiLocker); ok {
			return t.Alone(), nil
		}
	case histories.Revocation:
		if t, ok := target.(RevocableLocker); ok {
			return t.Revocable(), nil
		}
	case histories.Handoff:
		if t, ok := target.(HandoffLocker); ok {
			return t.Handoff(), nil
		}
	}
	return nil, notOffered(recipe)
}

func permitsOf(target Client, recipe histories.Recipe) (PermitLocker, error) {
	switch recipe {
	case histories.Semaphore:
		if t, ok := target.(SemaphoreLocker); ok {
			return t.Semaphore(), nil
		}
	case histories.SharedSemaphore:
		if t, ok := target.(SharedSemaphoreLocker); ok {
			return t.SharedSemaphore(), nil
		}
	}
	return nil, notOffered(recipe)
}

func notOffered(recipe histories.Recipe) error {
	return fmt.Errorf("the target offers no %s", recipe)
}

// do carries out what is asked of an open client.
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
		t, ok := h.target.(SharedSemaphoreLocker)
		if !ok {
			return protocol.Line{}, nil, notOffered(histories.SharedSemaphore)
		}
		return protocol.Line{}, nil, t.SharedSemaphore().SetSize(ctx, c.Lock, c.Size)
	case string(histories.Set), string(histories.Remove), string(histories.Wait):
		return protocol.Line{}, nil, h.barrier(ctx, c)
	case string(histories.Enter):
		t, ok := h.target.(DoubleBarrierClient)
		if !ok {
			return protocol.Line{}, nil, notOffered(histories.DoubleBarrier)
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
func (h *hosted) granted(lease Lease, err error) (protocol.Line, *hostedLease, error) {
	if err != nil {
		return protocol.Line{}, nil, err
	}
	session, _, _ := h.wire.credentials()
	if s, ok := lease.(Sessioned); ok {
		session = s.SessionID()
	}
	answer := protocol.Line{Session: sessionName(session)}
	if m, ok := lease.(MultiLease); ok {
		answer.Tokens = m.Tokens()
	} else {
		answer.Token = lease.Token()
	}
	return answer, &hostedLease{lease: lease}, nil
}

func (h *hosted) acquire(ctx context.Context, c protocol.Command) (Lease, error) {
	wait := c.Do == string(histories.Acquire)
	if len(c.Locks) > 0 {
		t, ok := h.target.(MultiLocker)
		switch {
		case !ok:
			return nil, notOffered(histories.MultiLock)
		case wait:
			return asLease(t.AcquireAll(ctx, c.Locks))
		}
		return asLease(t.TryAcquireAll(ctx, c.Locks))
	}
	if c.Recipe.HasPermits() {
		t, err := permitsOf(h.target, c.Recipe)
		switch {
		case err != nil:
			return nil, err
		case wait:
			return t.AcquireN(ctx, c.Lock, c.Permits)
		}
		return t.TryAcquireN(ctx, c.Lock, c.Permits)
	}
	t, err := lockerOf(h.target, c.Recipe, c.Mode)
	switch {
	case err != nil:
		return nil, err
	case wait:
		return t.Acquire(ctx, c.Lock)
	}
	return t.TryAcquire(ctx, c.Lock)
}

func (h *hosted) reenter(ctx context.Context, c protocol.Command) (Lease, error) {
	held, err := h.w.lease(c.Lease)
	if err != nil {
		return nil, err
	}
	t, err := lockerOf(h.target, c.Recipe, c.Mode)
	if err != nil {
		return nil, err
	}
	r, ok := t.(Reenterer)
	if !ok || held.lease == nil {
		return nil, fmt.Errorf("nobody can ask again for a %s", c.Recipe)
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
		g, ok := l.lease.(GuardedLease)
		if !ok {
			return protocol.Line{}, nil, errors.New("the target guards no writes")
		}
		return protocol.Line{}, nil, g.SetGuarded(ctx, c.Node, []byte(c.Data))
	case c.Do == protocol.DoListen:
		r, ok := l.lease.(RevocableLease)
		if !ok {
			return protocol.Line{}, nil, notOffered(histories.Revocation)
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
	t, ok := h.target.(RevocableLocker)
	if !ok {
		return protocol.Line{}, nil, notOffered(histories.Revocation)
	}
	if c.Do == string(histories.Revoke) {
		return protocol.Line{}, nil, t.Revocable().Revoke(ctx, c.Node)
	}
	token, node, err := t.Revocable().Holder(ctx, c.Lock)
	return protocol.Line{Token: token, Node: node}, nil, err
}

func (h *hosted) barrier(ctx context.Context, c protocol.Command) error {
	t, ok := h.target.(BarrierClient)
	if !ok {
		return notOffered(histories.Barrier)
	}
	switch c.Do {
	case string(histories.Set):
		return t.SetBarrier(ctx, c.Lock)
	case string(histories.Remove):
		return t.RemoveBarrier(ctx, c.Lock)
	}
	return t.WaitBarrier(ctx, c.Lock)
}
