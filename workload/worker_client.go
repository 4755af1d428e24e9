package workload

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkverify/zkverify/histories"
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
func (h *hosted) do(ctx context.Context, c command) (line, *hostedLease, error) {
	switch c.Do {
	case string(histories.Acquire), string(histories.TryAcquire):
		return h.granted(h.acquire(ctx, c))
	case doReenter:
		return h.granted(h.reenter(ctx, c))
	case string(histories.Release), doValid, doListen, doSet, string(histories.Leave):
		l, err := h.w.lease(c.Lease)
		if err != nil {
			return line{}, nil, err
		}
		return h.ofLease(ctx, c, l)
	case doHolder, string(histories.Revoke):
		return h.revocation(ctx, c)
	case string(histories.SetSize):
		t, ok := h.target.(SharedSemaphoreLocker)
		if !ok {
			return line{}, nil, notOffered(histories.SharedSemaphore)
		}
		return line{}, nil, t.SharedSemaphore().SetSize(ctx, c.Lock, c.Size)
	case string(histories.Set), string(histories.Remove), string(histories.Wait):
		return line{}, nil, h.barrier(ctx, c)
	case string(histories.Enter):
		t, ok := h.target.(DoubleBarrierClient)
		if !ok {
			return line{}, nil, notOffered(histories.DoubleBarrier)
		}
		member, err := t.EnterBarrier(ctx, c.Lock)
		if err != nil {
			return line{}, nil, err
		}
		return line{}, &hostedLease{member: member}, nil
	}
	return line{}, nil, fmt.Errorf("unknown command %q", c.Do)
}

// granted answers an acquire.
func (h *hosted) granted(lease Lease, err error) (line, *hostedLease, error) {
	if err != nil {
		return line{}, nil, err
	}
	session, _, _ := h.wire.credentials()
	if s, ok := lease.(Sessioned); ok {
		session = s.SessionID()
	}
	answer := line{Session: sessionName(session)}
	if m, ok := lease.(MultiLease); ok {
		answer.Tokens = m.Tokens()
	} else {
		answer.Token = lease.Token()
	}
	return answer, &hostedLease{lease: lease}, nil
}

func (h *hosted) acquire(ctx context.Context, c command) (Lease, error) {
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

func (h *hosted) reenter(ctx context.Context, c command) (Lease, error) {
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

func (h *hosted) ofLease(ctx context.Context, c command, l *hostedLease) (line, *hostedLease, error) {
	switch {
	case c.Do == string(histories.Leave) && l.member != nil:
		err := l.member.Leave(ctx)
		h.w.forget(func(id int64, _ *hostedLease) bool { return id == c.Lease })
		return line{}, nil, err
	case l.lease == nil:
		return line{}, nil, fmt.Errorf("%s of %d, which is no lease", c.Do, c.Lease)
	case c.Do == doValid:
		return line{Valid: l.lease.Valid()}, nil, nil
	case c.Do == doSet:
		g, ok := l.lease.(GuardedLease)
		if !ok {
			return line{}, nil, errors.New("the target guards no writes")
		}
		return line{}, nil, g.SetGuarded(ctx, c.Node, []byte(c.Data))
	case c.Do == doListen:
		r, ok := l.lease.(RevocableLease)
		if !ok {
			return line{}, nil, notOffered(histories.Revocation)
		}
		r.OnRevoke(func() { h.w.say(line{Event: sayRevokeRequested, Lease: c.Lease}) })
		return line{}, nil, nil
	case c.Do == string(histories.Release):
		err := l.lease.Release(ctx)
		h.w.forget(func(id int64, _ *hostedLease) bool { return id == c.Lease })
		return line{}, nil, err
	}
	return line{}, nil, fmt.Errorf("%s of a lease", c.Do)
}

func (h *hosted) revocation(ctx context.Context, c command) (line, *hostedLease, error) {
	t, ok := h.target.(RevocableLocker)
	if !ok {
		return line{}, nil, notOffered(histories.Revocation)
	}
	if c.Do == string(histories.Revoke) {
		return line{}, nil, t.Revocable().Revoke(ctx, c.Node)
	}
	token, node, err := t.Revocable().Holder(ctx, c.Lock)
	return line{Token: token, Node: node}, nil, err
}

func (h *hosted) barrier(ctx context.Context, c command) error {
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
