package recipes

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/recipes/internal/queue"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Mutex is a fair, reentrant lock: Curator's InterProcessMutex, with a fencing
// token and a notification of its loss. It is only a name: any number of Mutex values, in
// any number of processes, Curator's included, exclude each other by path.
//
// Loss: see [Lease.Lost]. Cancel and timeout: see Acquire. Misuse is refused
// with an error; nothing of a refused call is left behind.
type Mutex struct {
	client *Client
	path   string
	kind   string   // of its nodes
	kinds  []string // that stand in its queue
	rule   queue.Rule
	cfg    lockConfig
}

// NewMutex returns the mutex at path, an absolute ZooKeeper path that should
// have no children but contenders. Missing parents are created as containers.
func NewMutex(client *Client, path string, options ...MutexOption) *Mutex {
	m := &Mutex{client: client, path: client.resolve(path), kind: queue.Lock, kinds: queue.Locks, rule: queue.Exclusive, cfg: newLockConfig(client, options)}
	if m.cfg.rule != nil {
		m.rule = m.cfg.rule.shown(client.cfg.Callbacks)
	}
	return m
}

// Path returns the lock's path.
func (m *Mutex) Path() string { return m.path }

// Held reports whether the lock is held through this Client, by any owner:
// Curator's isAcquiredInThisProcess.
func (m *Mutex) Held() bool { return m.client.holds.held(m.path, m.kind) }

// Acquire waits for the lock. Cancelling ctx ends the wait, and nothing of it
// is left: it bounds the acquire, not the lease. With the context of a lease on
// the same path, or an owner (see WithOwner) that holds it, Acquire re-enters
// at once.
//
// When the session ends during the wait, Acquire goes on with the next one, at
// the end of the queue.
//
// Errors: ctx's cause; [ErrLeaseLost] or [ErrNotHeld] with the context of a
// lease that is over; [ErrBadPath]; [ErrClosed]; [ErrUpgrade] (see
// [ReadWriteMutex]); [ErrTooLarge] (see [WithData]); [ErrSequenceEnd]; errors of ZooKeeper
// such as zk.ErrNoAuth.
func (m *Mutex) Acquire(ctx context.Context) (*Lease, error) {
	l, err := m.acquire(ctx, true)
	if err != nil {
		return nil, m.client.failed(ctx, "acquire", m.path, err)
	}
	return l, nil
}

// TryAcquire takes the lock if nobody is ahead, and returns [ErrNotAcquired] if
// somebody is. Another client that gave up is ahead until its node has been deleted,
// which may be after its call has returned. Otherwise it is like Acquire.
func (m *Mutex) TryAcquire(ctx context.Context) (*Lease, error) {
	l, err := m.acquire(ctx, false)
	if err != nil {
		return nil, m.client.failed(ctx, "try-acquire", m.path, err)
	}
	return l, nil
}

// Do acquires the lock, calls f, and releases the lock. The context that f gets
// ends with ctx and with the lease, whichever is first: work that ends with its
// context never outlives the lock by more than it takes to notice. Do returns
// f's error, joined with [ErrLeaseLost] if the lease was lost meanwhile, or if its deadline
// has passed before the servers confirmed the release, see [Lease.Release]: once f has
// returned, Do waits until then at most, whatever ctx says.
func (m *Mutex) Do(ctx context.Context, f func(ctx context.Context, lease *Lease) error) error {
	return do(ctx, m.Acquire, f)
}

// Participants lists the contenders in the order of their turns; the first one
// holds the lock. It is a picture of the recent past, also of crashed
// contenders whose sessions have not expired yet.
func (m *Mutex) Participants(ctx context.Context) ([]Participant, error) {
	return m.client.participants(ctx, m.path, m.kinds)
}

func (m *Mutex) acquire(ctx context.Context, block bool) (_ *Lease, err error) {
	asked := time.Now()
	key, err := m.client.begin(ctx, m.path, m.kind)
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

// recipe is what the observer is told that the mutex is.
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

// contend makes one attempt in one session. The lease stands on what grant makes
// of the contender.
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

// entry is what the mutex's contenders want.
func (m *Mutex) entry() queue.Entry {
	return queue.Entry{Dir: m.path, Kinds: m.kinds, Kind: m.kind, Rule: m.rule, Custom: m.cfg.rule != nil, Data: m.cfg.data, ACL: m.cfg.acl}
}
