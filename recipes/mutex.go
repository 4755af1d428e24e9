package recipes

import (
	"context"
	"errors"
)

// Mutex is a fair, reentrant lock: Curator's InterProcessMutex, with a fencing
// token and word of its loss. It is only a name: any number of Mutex values, in
// any number of processes, Curator's included, exclude each other by path.
type Mutex struct {
	client *Client
	path   string
	data   []byte
}

// LockOption configures one lock.
type LockOption func(*Mutex)

// WithData sets the data of the lock's nodes; participants see it. Default
// empty.
func WithData(data []byte) LockOption {
	return func(m *Mutex) { m.data = append([]byte(nil), data...) }
}

// NewMutex returns the mutex at path, an absolute ZooKeeper path that should
// have no children but contenders. Missing parents are created as containers.
func NewMutex(client *Client, path string, options ...LockOption) *Mutex {
	m := &Mutex{client: client, path: path}
	for _, o := range options {
		o(m)
	}
	return m
}

// Path returns the lock's path.
func (m *Mutex) Path() string { return m.path }

// Acquire waits for the lock. Cancelling ctx ends the wait, and nothing of it
// is left: it bounds the acquire, not the lease. With the context of a lease on
// the same path, or an owner (see WithOwner) that holds it, Acquire re-enters
// at once.
//
// When the session ends during the wait, Acquire goes on with the next one, at
// the end of the queue.
//
// Errors: ctx's cause; [ErrLeaseLost] or [ErrNotHeld] with the context of a
// lease that is over; [ErrBadPath]; [ErrClosed]; errors of ZooKeeper such as
// zk.ErrNoAuth.
func (m *Mutex) Acquire(ctx context.Context) (*Lease, error) {
	l, err := m.acquire(ctx, true)
	if err != nil {
		return nil, opError("acquire", m.path, err)
	}
	return l, nil
}

// TryAcquire takes the lock if nobody is ahead, and returns [ErrNotAcquired] if
// somebody is. Otherwise it is like Acquire.
func (m *Mutex) TryAcquire(ctx context.Context) (*Lease, error) {
	l, err := m.acquire(ctx, false)
	if err != nil {
		return nil, opError("try-acquire", m.path, err)
	}
	return l, nil
}

// Do acquires the lock, calls f, and releases the lock. The context that f gets
// ends with ctx and with the lease, whichever is first: work that ends with its
// context never outlives the lock by more than it takes to notice. Do returns
// f's error, joined with [ErrLeaseLost] if the lease was lost meanwhile.
func (m *Mutex) Do(ctx context.Context, f func(ctx context.Context, lease *Lease) error) error {
	lease, err := m.Acquire(ctx)
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
	if errors.Is(release, ErrLeaseLost) || ctx.Err() == nil {
		err = errors.Join(err, release)
	}
	return err
}

func (m *Mutex) acquire(ctx context.Context, block bool) (_ *Lease, err error) {
	if err := checkPath(m.path); err != nil {
		return nil, err
	}
	o := ownerOf(ctx)
	if err := checkOwner(o, m.path); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	key := ownership{m.path, o.id}
	if o.id == "" {
		key.owner = newGUID()
	}
	if l, err := m.client.holds.enter(ctx, key); l != nil || err != nil {
		return l, err
	}
	var h *hold
	defer func() { m.client.holds.settle(key, h) }()
	for {
		s, err := m.client.session(ctx)
		if err != nil {
			return nil, err
		}
		h, err = m.contend(ctx, s, key, block)
		if err == nil {
			return h.outermost, nil
		}
		if !errors.Is(err, errSessionEnded) && !errors.Is(err, errNodeGone) {
			return nil, err
		}
	}
}

// contend makes one attempt in one session.
func (m *Mutex) contend(ctx context.Context, s *session, key ownership, block bool) (_ *hold, err error) {
	c := newContender(s, m.path, lockName, m.data)
	if err := c.enqueue(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.leave(ctx)
		}
	}()
	announced := false
	for {
		blocker, ahead, err := c.turn(ctx)
		if err != nil {
			return nil, err
		}
		if !announced {
			announced = true
			m.client.announce(ctx, c, ahead)
		}
		if blocker == "" {
			// The list may come from a server that has not heard that the
			// session expired meanwhile (etcd #11456).
			if err := s.awaitEvidence(ctx); err != nil {
				return nil, err
			}
			h, err := newHold(ctx, m.client, c, key)
			if errors.Is(err, errNotNow) {
				continue
			}
			return h, err
		}
		if !block {
			return nil, ErrNotAcquired
		}
		if err := c.await(ctx, blocker); err != nil {
			return nil, err
		}
	}
}
