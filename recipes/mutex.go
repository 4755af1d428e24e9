package recipes

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/recipes/internal/queue"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Mutex is a fair, reentrant lock: Curator's InterProcessMutex, with a fencing token and a
// notification of its loss, see [Lease.Lost].
type Mutex struct {
	client *Client
	path   string
	kind   string   // the kind of its nodes
	kinds  []string // the kinds of nodes in its queue
	rule   queue.Rule
	cfg    lockConfig
}

// NewMutex returns the mutex at path.
func NewMutex(client *Client, path string, options ...LockOption) *Mutex {
	m := &Mutex{client: client, path: client.resolve(path), kind: queue.Lock, kinds: queue.Locks, rule: queue.Exclusive, cfg: newLockConfig(client, "Mutex", options)}
	if m.cfg.rule != nil {
		m.rule = m.cfg.rule.shown(client.cfg.Callbacks)
	}
	return m
}

// Path returns the lock's path.
func (m *Mutex) Path() string { return m.path }

// Held reports whether any owner holds the lock through this Client: Curator's
// isAcquiredInThisProcess.
func (m *Mutex) Held() bool { return m.client.holds.held(m.path, m.kind) }

// Acquire waits for the lock. With the context of a lease on the same path, or of an owner (see
// WithOwner) that holds the lock, it re-enters at once.
func (m *Mutex) Acquire(ctx context.Context) (*Lease, error) {
	l, err := m.acquire(ctx, true)
	if err != nil {
		return nil, m.client.failed(ctx, "acquire", m.path, err)
	}
	return l, nil
}

// TryAcquire is like Acquire if no other contender is ahead, and returns [ErrNotAcquired] if one
// is. A contender that gave up is ahead until its node has been deleted, which may be after its
// call has returned.
func (m *Mutex) TryAcquire(ctx context.Context) (*Lease, error) {
	l, err := m.acquire(ctx, false)
	if err != nil {
		return nil, m.client.failed(ctx, "try-acquire", m.path, err)
	}
	return l, nil
}

// Do acquires the lock, calls f, and releases the lock. The context that f gets ends with ctx or
// with the lease, whichever ends first. Do returns f's error, joined with [ErrLeaseLost] if the
// lease was lost meanwhile, or if its deadline passed before the servers confirmed the release, see
// [Lease.Release]. Once f has returned, Do waits until the lease's deadline at most.
func (m *Mutex) Do(ctx context.Context, f func(ctx context.Context, lease *Lease) error) error {
	return do(ctx, m.Acquire, f)
}

// Participants lists the contenders in the order of their turns; the first one holds the lock. The
// list may be a little old, and has crashed contenders until their sessions expire.
func (m *Mutex) Participants(ctx context.Context) ([]Participant, error) {
	return m.client.participants(ctx, m.path, m.kinds)
}

func (m *Mutex) acquire(ctx context.Context, block bool) (_ *Lease, err error) {
	asked := time.Now()
	key, err := m.client.begin(ctx, m.cfg, m.path, m.kind)
	if err != nil {
		return nil, err
	}
	if l, err := m.client.holds.enter(ctx, key); l != nil || err != nil {
		return l, err
	}
	var h *hold
	defer func() { m.client.holds.settle(key, h) }()
	ctx, gaveUp := m.client.acquiring(ctx, m.path, m.recipe(), asked)
	defer func() { gaveUp(err) }()
	if m.cfg.handoff > 0 {
		h, err = m.handoff(ctx, key, block, asked)
	} else {
		h, err = m.client.inSession(ctx, func(s *session.Session) (*hold, error) {
			return m.contend(ctx, s, key, block, asked, (*queue.Contender).Grant)
		})
	}
	if err != nil {
		return nil, err
	}
	return h.outermost, nil
}

// recipe returns the name of the mutex's recipe for the observer.
func (m *Mutex) recipe() string {
	switch {
	case m.kind == queue.Latch || m.cfg.selector:
		return "election"
	case m.kind == queue.Read:
		return "read"
	case m.kind == queue.Write:
		return "write"
	}
	return "mutex"
}

// contend makes one attempt in one session. The function grant returns the contender's grant, on
// which the lease is built.
func (m *Mutex) contend(ctx context.Context, s *session.Session, key ownership, block bool, asked time.Time, grant func(*queue.Contender) queue.Grant) (_ *hold, err error) {
	c := queue.NewContender(s, m.entry())
	writer := m.client.holds.find(ownership{m.path, key.owner, queue.Write})
	if m.kind == queue.Read && writer != nil {
		err = c.Downgrade(ctx, writer.Grant)
	} else {
		err = c.Enqueue(ctx)
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.Leave(ctx)
		}
	}()
	m.client.announce(ctx, m.path, c, Token{Zxid: c.Zxid, Sub: c.Sub})
	if err := c.Wait(ctx, block); err != nil {
		return nil, err
	}
	return m.client.startHold(ctx, grant(c), key, m.cfg.revoked, asked)
}

// entry returns the queue entry of the mutex's contenders.
func (m *Mutex) entry() queue.Entry {
	return queue.Entry{Dir: m.path, Kinds: m.kinds, Kind: m.kind, Rule: m.rule, Custom: m.cfg.rule != nil, Data: m.cfg.data, ACL: m.cfg.acl}
}
