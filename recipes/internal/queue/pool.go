package queue

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Pool holds the options of a semaphore's permits and of the queue for them.
type Pool struct {
	Path  string // of the semaphore
	Size  int
	Count *Count // instead of Size; nil: none
	Data  []byte // of the nodes
	ACL   []zk.ACL
}

// Count is a size that all clients see and may change.
type Count struct {
	Path string
	Read func(context.Context, *session.Session) (size int, version int32, err error)
}

// A semaphore's directories, below its path.
const (
	LocksDir  = "/locks"  // the queue
	LeasesDir = "/leases" // a node for each permit that is out
)

// Contend takes n permits in one session. It calls placed when the contender has its place
// in the queue.
func (p *Pool) Contend(ctx context.Context, s *session.Session, n int, block bool, placed func(*Contender)) (Grant, error) {
	c := NewContender(s, Entry{Dir: p.Path + LocksDir, Kinds: Locks, Kind: Lock, Rule: Exclusive, Data: p.Data, ACL: p.ACL})
	c.permits = &request{pool: p, n: n, guid: session.NewGUID()}
	if err := c.Enqueue(ctx); err != nil {
		return Grant{}, err
	}
	placed(c)
	for pace, version := session.Changed(), int32(-1); ; {
		err := c.Wait(ctx, block)
		t := batchOf(c) // set when a contender ahead takes its permits, too
		if t == nil && err == nil {
			t, err = p.take(ctx, c, block)
		}
		if t == nil {
			c.Leave(ctx)
			return Grant{}, err
		}
		if on, err := t.await(ctx, c); !errors.Is(err, errAskAgain) {
			return on, err
		}
		if t.version != version { // of a shared size that was changed
			pace.Anew()
			version = t.version
		}
		if err := pace.Wait(ctx, c.S); err != nil {
			c.Leave(ctx)
			return Grant{}, err
		}
	}
}

// same reports whether two pools have the same semaphore and size.
func (p *Pool) same(other *Pool) bool {
	if p.Count == nil || other.Count == nil {
		return p.Count == other.Count && p.Path == other.Path && p.Size == other.Size
	}
	return p.Path == other.Path && p.Count.Path == other.Count.Path
}

// take waits at the head of the queue until there is room, and takes the permits. As long
// as c is at the head other contenders can only give permits back.
func (p *Pool) take(ctx context.Context, c *Contender, block bool) (*batch, error) {
	var seen *permits
	for watch := false; ; {
		t, short, err := batchOrWait(c)
		switch {
		case t != nil || err != nil:
			return t, err
		case short == ofOldSize:
			if err := p.readSize(ctx, c); err != nil {
				return nil, err
			}
			continue
		case short == ofOurs && p.Count == nil && block:
			if err := c.awaitOwn(ctx, aPermit); err != nil {
				return nil, err
			}
			continue
		case short == unknown || seen == nil && !(short == ofOurs && p.Count == nil):
			c.q.stop(c, aPermit)
			if seen, err = p.count(ctx, c, watch); err != nil {
				return nil, err
			}
			watch = block // only from the second look on: most often there is room
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

// readSize reads the shared size alone, after a transaction that relied on an older one. The
// permits that were known to be out then are at least those that are out now.
func (p *Pool) readSize(ctx context.Context, c *Contender) error {
	size, version, err := p.Count.Read(ctx, c.S)
	if err != nil {
		return err
	}
	c.q.mu.Lock()
	defer c.q.mu.Unlock()
	if known := ledgerOf(c.q).known; known != nil {
		known.size, known.version, known.resized = size, version, false
	}
	return nil
}

// count counts the permits that are out, and records them in the ledger.
func (p *Pool) count(ctx context.Context, c *Contender, watch bool) (*permits, error) {
	q := c.q
	q.mu.Lock()
	ledgerOf(q).looks++
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		ledgerOf(q).looked()
	}()
	for {
		room, err := p.tally(ctx, c, watch)
		switch {
		case err == nil:
			q.mu.Lock()
			ledgerOf(q).learn(&room, q.applied)
			q.mu.Unlock()
			return &room, nil
		case session.Answered(err), errors.Is(err, ErrBadCount):
			return nil, err
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
		if err := c.S.AwaitUp(ctx); err != nil {
			return nil, err
		}
	}
}

func (p *Pool) tally(ctx context.Context, c *Contender, watch bool) (room permits, err error) {
	dir := p.Path + LeasesDir
	var children []string
	if watch { // before the look, so that no change is missed
		var event session.Watched
		event, children, err = session.WatchChildren(ctx, c.S, dir)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return room, err
		}
		room.changed = append(room.changed, event)
		if p.Count != nil {
			event, err := session.Watch(ctx, c.S, p.Count.Path)
			if err != nil && !errors.Is(err, zk.ErrNoNode) {
				return room, err
			}
			room.changed = append(room.changed, event)
		}
	}
	if children == nil {
		children, err = session.Call(ctx, c.S, func() ([]string, error) {
			children, _, err := c.S.Conn.Children(dir)
			return children, err
		}, nil)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return room, err
		}
	}
	// The size comes last: a transaction that counts on it fails if it is changed meanwhile.
	room.size = p.Size
	if p.Count != nil {
		if room.size, room.version, err = p.Count.Read(ctx, c.S); err != nil {
			return room, err
		}
	}
	room.out = make(map[string]bool)
	for _, permit := range Places(children, Permits) {
		room.out[dir+"/"+permit.Node] = true
	}
	return room, nil
}
