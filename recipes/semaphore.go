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
// an acquirer whose session has ended.
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
	s := NewSemaphore(client, path, 1, options...)
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
// [ErrBadCount]; [ErrClosed]; errors of ZooKeeper such as zk.ErrNoAuth.
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
			for _, path := range on.nodes {
				in.deleteInBackground(path, nil)
			}
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
	if err := c.enqueue(ctx); err != nil {
		return claim{}, err
	}
	s.client.announce(ctx, s.path, c, Token{})
	on, err := claim{}, c.wait(ctx, block)
	for looks := 0; err == nil; looks++ {
		var room *permits
		room, err = s.look(ctx, c, n, looks > 0)
		switch {
		case err != nil:
		case room.used()+n <= room.size:
			if on, err = s.take(ctx, c, n, room); err == nil {
				return on, nil
			}
			if errors.Is(err, zk.ErrBadVersion) {
				err = nil // the size has changed: look again
			}
		case !block:
			err = ErrNotAcquired
		default:
			err = c.awaitAny(ctx, room.changed)
		}
	}
	c.leave(ctx)
	return claim{}, err
}

// look counts the permits that are out. As long as c is at the head of the
// queue others can only give some back.
func (s *Semaphore) look(ctx context.Context, c *contender, n int, watch bool) (*permits, error) {
	if room := c.q.knownPermits(c); room != nil && !watch && room.used()+n <= room.size {
		return room, nil
	}
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

// take makes the nodes of n permits, and removes the contender from the queue,
// in one transaction. It fails when the contender is not there any more, so that
// only the head of the queue ever takes, and when the shared size has changed.
func (s *Semaphore) take(ctx context.Context, c *contender, n int, room *permits) (claim, error) {
	guid, dir := newGUID(), s.path+leasesDir
	var ops []any
	for range n {
		ops = append(ops, &zk.CreateRequest{
			Path: dir + "/" + protectedName(guid, leaseKind), Data: c.data, Acl: c.acl, Flags: zk.FlagEphemeralSequential,
		})
	}
	ops = append(ops, &zk.DeleteRequest{Path: c.path(), Version: -1})
	if s.count != nil {
		ops = append(ops, &zk.CheckVersionRequest{Path: s.count.path, Version: room.version})
	}
	c.s.expectZxid(guid)
	defer c.s.takeZxid(guid)
	var failed int // the operation that did
	request := func() ([]string, error) {
		results, err := c.s.conn.Multi(ops...)
		var paths []string
		for i, r := range results {
			if r.Error != nil {
				failed = i
				break
			}
			if i < n {
				paths = append(paths, r.String)
			}
		}
		return paths, err
	}
	abandoned := func(paths []string, err error) {
		switch {
		case err == nil:
			for _, path := range paths {
				c.s.deleteInBackground(path, nil)
			}
		case !answered(err) && !errors.Is(err, zk.ErrNoServer):
			c.s.deleteByGUID(dir, guid)
		}
	}
	for {
		paths, err := call(ctx, c.s, request, abandoned)
		switch {
		case err == nil:
			token := Token{Zxid: c.s.takeZxid(guid)}
			if token.IsZero() { // its path is too long for the tap
				if token, err = identify(ctx, c.s, paths[0]); err != nil {
					abandoned(paths, nil)
					return claim{}, err
				}
			}
			return s.claim(c, paths, token), nil
		case errors.Is(err, errSessionEnded), gaveUp(ctx, err):
			return claim{}, err // abandoned has the nodes
		case errors.Is(err, zk.ErrNoNode) && failed < n:
			if err := createParents(ctx, c.s, dir); err != nil {
				return claim{}, err
			}
			continue
		case errors.Is(err, zk.ErrNoNode) && failed == n:
			return claim{}, errNodeGone
		case errors.Is(err, zk.ErrNoNode): // the shared size: somebody deleted it
			return claim{}, zk.ErrBadVersion
		case errors.Is(err, zk.ErrNoServer):
			if err := c.s.awaitUp(ctx); err != nil {
				return claim{}, err
			}
			continue
		case answered(err):
			return claim{}, err
		}
		// The connection broke: the permits may have been taken or not.
		paths, err = findByGUID(ctx, c.s, dir, guid)
		if err != nil {
			c.s.deleteByGUID(dir, guid)
			return claim{}, err
		}
		if len(paths) > 0 && len(paths) < n { // somebody deletes them meanwhile
			c.s.deleteByGUID(dir, guid)
			return claim{}, errNodeGone
		}
		if len(paths) == n {
			token, err := identify(ctx, c.s, paths[0])
			if err != nil {
				c.s.deleteByGUID(dir, guid)
				return claim{}, err
			}
			return s.claim(c, paths, token), nil
		}
	}
}

// claim is what a lease of n permits stands on.
func (s *Semaphore) claim(c *contender, paths []string, token Token) claim {
	c.s.untrack(c.path())
	c.q.tookPermits(paths)
	c.gone()
	return claim{
		s: c.s, nodes: paths, token: token, permits: len(paths), data: c.data,
		release: func(bool) error { return c.s.removeAllHere(paths, c.q.freedPermit) },
	}
}
