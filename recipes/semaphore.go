package recipes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
)

// Semaphore admits holders as long as their permits add up to no more than its
// size: Curator's InterProcessSemaphoreV2, on the same paths. Below its own path
// it has a queue of acquirers (locks) and a node for each permit that is out
// (leases).
//
// It is fair, whatever the numbers asked for: an acquire of many permits waits
// at the head of the queue until they are free, and nobody overtakes it. All
// permits of an acquire, and its leave from the queue, are one transaction, so
// that two acquires never hold what the other waits for, and nothing is taken by
// an acquirer whose session has ended. Those of one Client that follow each other
// in the queue take together, as far as there is room.
//
// A semaphore is not reentrant: each acquire takes permits of its own. Its
// tokens grow in the order of the grants; only with size 1 is that a fence.
//
// Loss, cancel and timeout: as with [Mutex]. A permit is never lost for good: it
// ends with its lease, at the latest with the session.
type Semaphore struct {
	client *Client
	path   string
	size   int
	count  *SharedCount // instead of size
	cfg    lockConfig
}

// maxPermits bounds one acquire: each permit is a node of one transaction, and
// servers refuse packets of more than a megabyte.
const maxPermits = 1000

// NewSemaphore returns the semaphore at path with a fixed size, at least 1,
// which must be the same for everybody who uses it.
func NewSemaphore(client *Client, path string, size int, options ...LockOption) *Semaphore {
	return &Semaphore{client: client, path: client.resolve(path), size: size, cfg: newLockConfig(options)}
}

// NewSharedSemaphore returns the semaphore at path whose size is what count
// says at the time of each grant. When the size is lowered nobody loses permits;
// nobody gets new ones either until enough have been released. Curator's
// semaphore with a SharedCountReader.
func NewSharedSemaphore(client *Client, path string, count *SharedCount, options ...LockOption) *Semaphore {
	s := NewSemaphore(client, path, 0, options...) // which without a count admits nobody
	s.count = count
	return s
}

// Path returns the semaphore's path.
func (s *Semaphore) Path() string { return s.path }

// Held reports whether permits are held through this Client.
func (s *Semaphore) Held() bool { return s.client.holds.held(s.path, leaseKind) }

// Acquire waits for one permit. See AcquireN.
func (s *Semaphore) Acquire(ctx context.Context) (*Lease, error) { return s.AcquireN(ctx, 1) }

// TryAcquire takes one permit if it can be had at once. See TryAcquireN.
func (s *Semaphore) TryAcquire(ctx context.Context) (*Lease, error) { return s.TryAcquireN(ctx, 1) }

// AcquireN waits for n permits, and gets all of them or none. Cancelling ctx
// ends the wait, and nothing of it is left. When the session ends during the
// wait, AcquireN goes on with the next one, at the end of the queue.
//
// Errors: ctx's cause; [ErrBadPermits] when n or the size is less than 1;
// [ErrTooManyPermits] when n is more than a fixed size, or more than 1,000 (with
// a shared size AcquireN waits until it is raised); [ErrLeaseLost] or
// [ErrNotHeld] with the context of a lease that is over; [ErrBadPath];
// [ErrBadCount]; [ErrTooLarge]; [ErrClosed]; errors of ZooKeeper such as zk.ErrNoAuth.
func (s *Semaphore) AcquireN(ctx context.Context, n int) (*Lease, error) {
	l, err := s.acquire(ctx, n, true, newGUID())
	if err != nil {
		return nil, opError("acquire", s.path, err)
	}
	return l, nil
}

// TryAcquireN takes n permits if nobody is ahead in the queue and they are free,
// and returns [ErrNotAcquired] otherwise. Otherwise it is like AcquireN.
func (s *Semaphore) TryAcquireN(ctx context.Context, n int) (*Lease, error) {
	l, err := s.acquire(ctx, n, false, newGUID())
	if err != nil {
		return nil, opError("try-acquire", s.path, err)
	}
	return l, nil
}

// Do acquires one permit, calls f, and releases the permit, as [Mutex.Do] does.
func (s *Semaphore) Do(ctx context.Context, f func(ctx context.Context, lease *Lease) error) error {
	return do(ctx, s.Acquire, f)
}

// Participants lists the permits that are out, oldest first, each of kind
// "lease-", and behind them the acquirers that wait, of kind "lock-".
func (s *Semaphore) Participants(ctx context.Context) ([]Participant, error) {
	leases, err := s.client.participants(ctx, s.path+leasesDir, leaseKinds)
	if err != nil {
		return nil, err
	}
	waiting, err := s.client.participants(ctx, s.path+locksDir, lockKinds)
	return append(leases, waiting...), err
}

const (
	locksDir  = "/locks"
	leasesDir = "/leases"
)

func (s *Semaphore) acquire(ctx context.Context, n int, block bool, id string) (_ *Lease, err error) {
	asked := time.Now()
	key, err := s.client.begin(ctx, s.path, leaseKind)
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
	if id != "" {
		key.owner = id // re-enters nothing
	}
	if l, err := s.client.holds.enter(ctx, key); l != nil || err != nil {
		return l, err
	}
	var h *hold
	defer func() { s.client.holds.settle(key, h) }()
	h, err = s.client.inSession(ctx, func(in *session) (*hold, error) {
		on, err := s.contend(ctx, in, n, block)
		if err != nil {
			return nil, err
		}
		h, err := startHold(ctx, s.client, on, key, &s.cfg, asked)
		if err != nil {
			in.spawn(func() { on.release(true) })
		}
		return h, err
	})
	if err != nil {
		return nil, err
	}
	return h.outermost, nil
}

// contend takes n permits in one session.
func (s *Semaphore) contend(ctx context.Context, in *session, n int, block bool) (claim, error) {
	c := newContender(in, s.path+locksDir, lockKinds, lockKind, exclusive, lockConfig{data: s.cfg.data, acl: s.cfg.acl})
	c.asks = &asks{sem: s, n: n, guid: newGUID()}
	if err := c.enqueue(ctx); err != nil {
		return claim{}, err
	}
	s.client.announce(ctx, s.path, c, Token{})
	for {
		err := c.wait(ctx, block)
		t := c.q.takeOf(c) // when one who stood ahead takes for it, too
		if t == nil && err == nil {
			t, err = s.take(ctx, c, block)
		}
		if t == nil {
			c.leave(ctx)
			return claim{}, err
		}
		if on, err := t.await(ctx, c); !errors.Is(err, errAskAgain) {
			return on, err
		}
	}
}

// same reports whether two handles speak of the same semaphore and size.
func (s *Semaphore) same(other *Semaphore) bool {
	if s.count == nil || other.count == nil {
		return s.count == other.count && s.path == other.path && s.size == other.size
	}
	return s.path == other.path && s.count.path == other.count.path
}

// take waits at the head of the queue until there is room, and takes. As long as
// c is there others can only give permits back.
func (s *Semaphore) take(ctx context.Context, c *contender, block bool) (*take, error) {
	var seen *permits
	for watch := false; ; {
		t, short, err := c.q.takeOrWait(c)
		switch {
		case t != nil || err != nil:
			return t, err
		case short == ofOurs && s.count == nil && block:
			if err := c.awaitOwn(ctx, aPermit); err != nil {
				return nil, err
			}
			continue
		case short == unknown || seen == nil && !(short == ofOurs && s.count == nil):
			c.q.stop(c, aPermit)
			if seen, err = s.look(ctx, c, watch); err != nil {
				return nil, err
			}
			watch = block // the next time: most often there is room
			continue
		case !block:
			c.q.stop(c, aPermit)
			return nil, ErrNotAcquired
		}
		err = c.awaitAny(ctx, seen.changed)
		c.q.stop(c, aPermit)
		if err != nil {
			return nil, err
		}
		seen = nil
	}
}

// look counts the permits that are out, and remembers.
func (s *Semaphore) look(ctx context.Context, c *contender, watch bool) (*permits, error) {
	defer c.q.looking()()
	for {
		room, err := s.tally(ctx, c, watch)
		switch {
		case err == nil:
			c.q.learnPermits(&room)
			return &room, nil
		case answered(err):
			return nil, err
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
		if err := c.s.awaitUp(ctx); err != nil {
			return nil, err
		}
	}
}

func (s *Semaphore) tally(ctx context.Context, c *contender, watch bool) (room permits, err error) {
	dir := s.path + leasesDir
	var children []string
	if watch { // before the look, so that no change is missed
		var event watched
		event, children, err = c.s.watch.onChildren(ctx, c.s, dir)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return room, err
		}
		room.changed = append(room.changed, event)
		if s.count != nil {
			event, err := c.s.watch.on(ctx, c.s, s.count.path)
			if err != nil && !errors.Is(err, zk.ErrNoNode) {
				return room, err
			}
			room.changed = append(room.changed, event)
		}
	}
	room.size = s.size
	if s.count != nil {
		if room.size, room.version, err = s.count.read(ctx, c.s); err != nil {
			return room, err
		}
	}
	if children == nil {
		children, err = call(ctx, c.s, func() ([]string, error) {
			children, _, err := c.s.conn.Children(dir)
			return children, err
		}, nil)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return room, err
		}
	}
	room.out = make(map[string]bool)
	for _, p := range queue(children, leaseKinds) {
		room.out[dir+"/"+p.Node] = true
	}
	return room, nil
}
