package recipes

import (
	"context"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/recipes/internal/queue"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Semaphore admits holders whose permits add up to at most its size: Curator's
// InterProcessSemaphoreV2, on the same paths. Below its own path it has a queue of acquirers
// (locks) and a node for each permit that is held (leases).
//
// An acquire of many permits waits at the head of the queue until they are free, and no other
// acquire overtakes it. It takes all its permits and leaves the queue in one transaction, so two
// acquires never each hold permits that the other waits for, and an acquirer whose session has
// ended takes no permit. Acquirers of one Client that follow each other in the queue take theirs in
// one transaction, as far as permits are free. A permit becomes free with the end of its lease, at
// the latest with the end of the session.
//
// A semaphore is not reentrant: each acquire takes permits of its own (but see
// [NewNonReentrantMutex]). Its tokens grow in the order of the grants; they fence only a semaphore
// of size 1.
type Semaphore struct {
	client *Client
	path   string
	size   int
	count  *SharedCount // instead of size
	alone  bool         // an owner takes one permit at a time
	cfg    lockConfig
}

// maxPermits bounds one acquire: each permit is a node of one transaction, and
// servers refuse packets of more than a megabyte.
const maxPermits = 1000

// NewSemaphore returns the semaphore at path with a fixed size, at least 1,
// which must be the same for all clients that use it.
func NewSemaphore(client *Client, path string, size int, options ...LockOption) *Semaphore {
	return &Semaphore{client: client, path: client.resolve(path), size: size, cfg: newLockConfig(client, "Semaphore", options)}
}

// NewSharedSemaphore returns the semaphore at path whose size is the value of count at the time
// of each grant. When the size is lowered, holders keep their permits, and the semaphore grants
// no new ones until enough have been released. It is Curator's semaphore with a
// SharedCountReader.
func NewSharedSemaphore(client *Client, path string, count *SharedCount, options ...LockOption) *Semaphore {
	s := NewSemaphore(client, path, 0, options...) // a size of 0 admits no acquirer if there is no count
	s.count = count
	return s
}

// NewNonReentrantMutex returns the semaphore of size 1 at path as a lock that its owner cannot
// acquire twice: Curator's InterProcessSemaphoreMutex, on the same paths. A second acquire, with
// the lease's context or by the same [WithOwner], fails with [ErrAlreadyHeld]. Prefer a [Mutex],
// which takes fewer messages.
func NewNonReentrantMutex(client *Client, path string, options ...LockOption) *Semaphore {
	s := NewSemaphore(client, path, 1, options...)
	s.alone = true
	return s
}

// Path returns the semaphore's path.
func (s *Semaphore) Path() string { return s.path }

// Held reports whether permits are held through this Client.
func (s *Semaphore) Held() bool { return s.client.holds.held(s.path, queue.Permit) }

// Acquire waits for one permit. See AcquireN.
func (s *Semaphore) Acquire(ctx context.Context) (*Lease, error) { return s.AcquireN(ctx, 1) }

// TryAcquire takes one permit if it can be had at once. See TryAcquireN.
func (s *Semaphore) TryAcquire(ctx context.Context) (*Lease, error) { return s.TryAcquireN(ctx, 1) }

// AcquireN waits for n permits, and gets all of them or none. See [ErrTooManyPermits].
func (s *Semaphore) AcquireN(ctx context.Context, n int) (*Lease, error) {
	l, err := s.acquire(ctx, n, true)
	if err != nil {
		return nil, s.client.failed(ctx, "acquire", s.path, err)
	}
	return l, nil
}

// TryAcquireN takes n permits if no other acquirer is ahead in the queue and the permits are
// free; if not, it returns [ErrNotAcquired]. Otherwise it is like AcquireN.
func (s *Semaphore) TryAcquireN(ctx context.Context, n int) (*Lease, error) {
	l, err := s.acquire(ctx, n, false)
	if err != nil {
		return nil, s.client.failed(ctx, "try-acquire", s.path, err)
	}
	return l, nil
}

// Do acquires one permit, calls f, and releases the permit, as [Mutex.Do] does.
func (s *Semaphore) Do(ctx context.Context, f func(ctx context.Context, lease *Lease) error) error {
	return do(ctx, s.Acquire, f)
}

// Participants lists the permits that are held, oldest first, each of kind "lease-", and behind
// them the waiting acquirers, of kind "lock-".
func (s *Semaphore) Participants(ctx context.Context) ([]Participant, error) {
	leases, err := s.client.participants(ctx, s.path+queue.LeasesDir, queue.Permits)
	if err != nil {
		return nil, err
	}
	waiting, err := s.client.participants(ctx, s.path+queue.LocksDir, queue.Locks)
	return append(leases, waiting...), err
}

func (s *Semaphore) acquire(ctx context.Context, n int, block bool) (_ *Lease, err error) {
	asked := time.Now()
	key, err := s.client.begin(ctx, s.cfg, s.path, queue.Permit)
	switch {
	case err != nil:
		return nil, err
	case n < 1:
		return nil, fmt.Errorf("%w: %d asked for", ErrBadPermits, n)
	case s.count == nil && s.size < 1:
		return nil, fmt.Errorf("%w: a size of %d", ErrBadPermits, s.size)
	case s.count == nil && n > s.size:
		return nil, fmt.Errorf("%w: %d asked for, %d in all", ErrTooManyPermits, n, s.size)
	case n > maxPermits:
		return nil, fmt.Errorf("%w: %d asked for, %d at a time", ErrTooManyPermits, n, maxPermits)
	}
	recipe := "nonreentrant"
	if !s.alone {
		recipe, key.owner = "semaphore", session.NewGUID() // a new owner, so no re-entry
	}
	if l, err := s.client.holds.enter(ctx, key); l != nil || err != nil {
		return l, err
	}
	var h *hold
	defer func() { s.client.holds.settle(key, h) }()
	ctx, gaveUp := s.client.acquiring(ctx, s.path, recipe, asked)
	defer func() { gaveUp(err) }()
	h, err = s.client.inSession(ctx, func(in *session.Session) (*hold, error) {
		on, err := s.pool().Contend(ctx, in, n, block, func(c *queue.Contender) { s.client.announce(ctx, s.path, c, Token{}) })
		if err != nil {
			return nil, err
		}
		h, err := s.client.startHold(ctx, on, key, s.cfg.revoked, asked)
		if err != nil {
			in.Spawn(func() { on.Release(true) })
		}
		return h, err
	})
	if err != nil {
		return nil, err
	}
	return h.outermost, nil
}

// pool returns the pool of permits that the semaphore's queue uses.
func (s *Semaphore) pool() *queue.Pool {
	p := &queue.Pool{Path: s.path, Size: s.size, Data: s.cfg.data, ACL: s.cfg.acl}
	if s.count != nil {
		p.Count = &queue.Count{Path: s.count.path, Read: s.count.read}
	}
	return p
}
