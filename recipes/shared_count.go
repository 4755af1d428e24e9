package recipes

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// SharedCount is an integer that all clients share: Curator's SharedCount, on the same path and
// in the same form, 4 bytes big-endian. It gives a [Semaphore] a size that can be changed while
// it is in use.
type SharedCount struct {
	client  *Client
	path    string
	initial int
}

// NewSharedCount returns the count at path. The first call that needs it creates
// it with the initial value, between −2^31 and 2^31−1, as a persistent node.
func NewSharedCount(client *Client, path string, initial int) *SharedCount {
	return &SharedCount{client: client, path: client.resolve(path), initial: initial}
}

// Path returns the count's path.
func (c *SharedCount) Path() string { return c.path }

// Get returns the count. It reads from a server that may lag behind for a moment.
func (c *SharedCount) Get(ctx context.Context) (int, error) {
	var n int
	err := c.inSession(ctx, func(s *session.Session) (err error) {
		n, _, err = c.read(ctx, s)
		return err
	})
	if err != nil {
		return 0, c.client.failed(ctx, "get", c.path, err)
	}
	return n, nil
}

// Set changes the count, and creates it first if need be. After an error the count may or may not
// have changed. Set does not change the count twice when a reply is lost: a value that another
// client has set in between stays.
func (c *SharedCount) Set(ctx context.Context, n int) error {
	if err := checkCount(n); err != nil {
		return c.client.failed(ctx, "set", c.path, err)
	}
	w := countWrite{c: c, data: encodeCount(n)}
	err := c.inSession(ctx, func(s *session.Session) error {
		err := w.carryOut(ctx, s)
		if !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		// The node is not created with n: after a lost reply Set could not tell whether its
		// create was carried out.
		if err := c.create(ctx, s); err != nil {
			return err
		}
		return zk.ErrNoNode // write again, now that the node exists
	})
	if err != nil {
		return c.client.failed(ctx, "set", c.path, err)
	}
	return nil
}

// countWrite is the write of one Set. It changes one version of the count and no other, even if
// it is sent several times.
type countWrite struct {
	c       *SharedCount
	data    []byte
	version int32 // the version that it changes
	sent    bool  // a request has had no reply, so that it may have been carried out
}

// carryOut writes in a session. After a lost reply a bad version means one of two things:
// this write was carried out, or another client's was, while this one was under way. In the
// second case the other write counts as the later of the two, and this Set is done. That holds
// only if the version was current when the call had begun: a server that lags behind may show a
// version from before another client's Set that was answered long ago. So carryOut asks the
// leader first: after its answer, a read of the session sees all earlier writes.
func (w *countWrite) carryOut(ctx context.Context, s *session.Session) error {
	for pace, version := session.Changed(), int32(-1); ; {
		if !w.sent {
			stands, err := session.Stands(ctx, s, w.c.path)
			if err != nil {
				return err
			}
			if !stands {
				return zk.ErrNoNode
			}
			stat, err := statOf(ctx, s, w.c.path)
			if err != nil {
				return err
			}
			if stat == nil {
				return zk.ErrNoNode // deleted meanwhile
			}
			w.version = stat.Version
			if version != w.version {
				pace.Anew()
				version = w.version
			}
		}
		_, err := session.Retry(ctx, s, func() (*zk.Stat, error) {
			stat, err := s.Conn.Set(w.c.path, w.data, w.version)
			w.sent = w.sent || err != nil && !session.Undone(session.Outcome(err))
			return stat, err
		})
		switch {
		case !errors.Is(err, zk.ErrBadVersion):
			return err
		case w.sent:
			return nil
		}
		if err := pace.Wait(ctx, s); err != nil {
			return err
		}
	}
}

// inSession repeats step, in the next session if need be, when the session has ended and when the
// node was created or deleted in between.
func (c *SharedCount) inSession(ctx context.Context, step func(*session.Session) error) error {
	if err := c.check(); err != nil {
		return err
	}
	for pace := session.Changed(); ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		s, err := c.client.sessions.Get(ctx)
		if err != nil {
			return err
		}
		err = step(s)
		if !errors.Is(err, session.ErrEnded) && !errors.Is(err, zk.ErrNodeExists) && !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		if err := pace.Wait(ctx, s); err != nil && !errors.Is(err, session.ErrEnded) {
			return err
		}
	}
}

// read returns the count and the version of its node. It creates the node if need be.
func (c *SharedCount) read(ctx context.Context, s *session.Session) (n int, version int32, err error) {
	type node struct {
		data    []byte
		version int32
	}
	if err := c.check(); err != nil {
		return 0, 0, err
	}
	for pace := session.Changed(); ; {
		got, err := session.Retry(ctx, s, func() (node, error) {
			data, stat, err := s.Conn.Get(c.path)
			if err != nil {
				return node{}, err
			}
			return node{data, stat.Version}, nil
		})
		switch {
		case errors.Is(err, zk.ErrNoNode):
			if err := c.create(ctx, s); err != nil && !errors.Is(err, zk.ErrNodeExists) {
				return 0, 0, err
			}
			if err := pace.Wait(ctx, s); err != nil {
				return 0, 0, err
			}
		case err != nil:
			return 0, 0, err
		case len(got.data) != 4:
			return 0, 0, fmt.Errorf("%w: %d bytes at %s", ErrBadCount, len(got.data), c.path)
		default:
			return int(int32(binary.BigEndian.Uint32(got.data))), got.version, nil
		}
	}
}

// create creates the node with the initial count. After a lost reply it may find its own node,
// and returns zk.ErrNodeExists; read and Set then try again with the node that exists.
func (c *SharedCount) create(ctx context.Context, s *session.Session) error {
	create := func() (string, error) {
		return s.Conn.Create(c.path, encodeCount(c.initial), 0, c.client.cfg.ACL)
	}
	var parents session.Parents
	for {
		_, err := session.Retry(ctx, s, create)
		if !errors.Is(err, zk.ErrNoNode) {
			if err != nil {
				parents.Unused(s)
			}
			return err
		}
		if err = parents.Create(ctx, s, c.path[:strings.LastIndexByte(c.path, '/')]); err != nil {
			parents.Unused(s)
			return err
		}
	}
}

// check checks the arguments of NewSharedCount.
func (c *SharedCount) check() error {
	if err := session.CheckPath(c.path); err != nil {
		return err
	}
	return checkCount(c.initial)
}

func encodeCount(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(int32(n))) }

func checkCount(n int) error {
	if int(int32(n)) != n {
		return fmt.Errorf("%w: %d does not fit into 4 bytes", ErrBadCount, n)
	}
	return nil
}
