package recipes

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// Client is a connection to an ensemble. It keeps one session at a time, and
// opens a new one when the servers have ended the old. One Client a process is
// the normal case; its methods may be called from any goroutine.
type Client struct {
	cfg     config
	servers []string
	notify  notifier
	holds   registry
	cohorts cohorts

	connection connection
	pace       *pace

	quit context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu       sync.Mutex
	current  *session
	refused  error            // why current was given up at once
	failures map[string]error // of the last attempt to connect to each server
	changed  chan struct{}    // closed and replaced when current is
	closing  bool
}

// Connect opens a session on one of the servers (host:port each) and returns
// when it is established. It tries all servers again and again until ctx ends:
// give it a deadline. The options state their defaults.
//
// Each server is tried at once, and so again when a session's connection has
// broken. After that there is a wait between two attempts: 10 ms at first, twice
// as much after each attempt, at most a sixth of the session timeout or 2 s, and
// half of it random. It is reset by a connection over which a write has been
// confirmed, or which has lasted as long as the longest wait. There are never more
// than 20 attempts in a fifth of a session timeout, or in 5 s if that is less. A
// healthy server that comes back is so found within that longest wait for each
// server of the list.
//
// Errors: ctx's cause, with the last error of each server, which is
// [ErrNotZooKeeper] for a server that cannot be one of ZooKeeper;
// zk.ErrAuthFailed, when the servers do not know the scheme of a WithAuth or
// refuse what it was given; [ErrBadPath] for a bad WithNamespace;
// [ErrBadTimeout] for a bad WithSessionTimeout or WithServerTick; [ErrBadSize]
// for a bad WithJuteMaxBuffer; zk's own for an empty list of servers.
func Connect(ctx context.Context, servers []string, options ...Option) (*Client, error) {
	c := &Client{
		cfg: config{
			sessionTimeout: 10 * time.Second,
			maxPacket:      juteMaxBuffer,
			acl:            zk.WorldACL(zk.PermAll),
			dial:           (&net.Dialer{}).DialContext,
		},
		servers: append([]string(nil), servers...),
		changed: make(chan struct{}),
	}
	for _, o := range options {
		o(&c.cfg)
	}
	if err := c.cfg.checkNamespace(); err != nil {
		return nil, err
	}
	if err := c.cfg.checkTimeouts(); err != nil {
		return nil, err
	}
	if err := c.cfg.checkMaxPacket(); err != nil {
		return nil, err
	}
	c.pace = newPace(len(servers), c.cfg.sessionTimeout)
	c.quit, c.stop = context.WithCancel(context.Background())
	s, err := startSession(c)
	if err != nil {
		c.stop()
		return nil, err
	}
	c.wg.Go(func() { c.run(s) })
	if _, err := c.session(ctx); err != nil {
		c.Close(ctx)
		return nil, err
	}
	return c, nil
}

// run replaces the session whenever it ends, until the client is closed.
func (c *Client) run(s *session) {
	for {
		select {
		case <-s.ready:
			err := c.authenticate(s)
			c.publish(s, err)
			if err != nil && c.quit.Err() == nil {
				s.end(LossNotAuthenticated)
				select { // no storm of sessions with bad credentials
				case <-time.After(time.Second):
				case <-c.quit.Done():
				}
			}
		case <-s.ended:
		case <-c.quit.Done():
		}
		select {
		case <-s.ended:
		case <-c.quit.Done():
		}
		c.wg.Go(s.close) // the next session need not wait for it
		if c.quit.Err() != nil {
			return
		}
		next, err := startSession(c)
		if err != nil {
			// zk.Connect refuses only empty server lists and the like, and has
			// accepted these before.
			return
		}
		s = next
	}
}

// authenticate adds the credentials to a new session; go-zookeeper repeats them
// on every reconnect.
func (c *Client) authenticate(s *session) error {
	for _, a := range c.cfg.auths {
		_, err := retry(c.quit, s, func() (struct{}, error) { return struct{}{}, s.conn.AddAuth(a.scheme, a.secret()) })
		if err != nil {
			return fmt.Errorf("recipes: authenticating by %s: %w", a.scheme, err)
		}
	}
	return nil
}

// publish makes s the session to use, or err what callers are told.
func (c *Client) publish(s *session, err error) {
	c.mu.Lock()
	c.current, c.refused = s, err
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
	if err == nil {
		s.introduce() // now: a listener that is told of it may use it
	}
}

// session returns a session that has not ended, waiting for it if need be.
func (c *Client) session(ctx context.Context) (*session, error) {
	for {
		c.mu.Lock()
		s, refused, changed, closing := c.current, c.refused, c.changed, c.closing
		c.mu.Unlock()
		if closing {
			return nil, ErrClosed
		}
		if refused != nil {
			return nil, refused
		}
		if s != nil {
			select {
			case <-s.ended:
			default:
				return s, nil
			}
		}
		select {
		case <-changed:
		case <-c.quit.Done():
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, c.noSession(context.Cause(ctx))
		}
	}
}

// Conn returns the connection of the current session, for data of your own, or
// nil when there is none now. Each session has its own Conn, which is closed
// when the session has ended: ask again then. Do not close it.
func (c *Client) Conn() *zk.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == nil {
		return nil
	}
	return c.current.conn
}

// SessionID returns the current session, or 0 before there is one. After the
// session has ended it is still that session, until there is another.
func (c *Client) SessionID() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == nil {
		return 0
	}
	return c.current.id
}

// SessionTimeout returns the session timeout that the servers granted the
// current session, or the one asked for before there is one.
func (c *Client) SessionTimeout() time.Duration {
	c.mu.Lock()
	s := c.current
	c.mu.Unlock()
	if s == nil {
		return c.cfg.sessionTimeout
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.timeout
}

// Close ends the session, and with it every lease and acquire of the client.
// While connected it tells the servers, so that others need not wait for the
// session to expire. It waits for the client's goroutines, at most until ctx
// ends, and returns ctx's cause then; they end all the same. Later calls wait
// as the first does.
func (c *Client) Close(ctx context.Context) error {
	c.mu.Lock()
	c.closing = true
	s := c.current
	c.mu.Unlock()
	c.stop()
	if s != nil {
		s.end(LossClientClosed)
	}
	c.tell(ConnClosed)
	done := make(chan struct{})
	go func() {
		c.wg.Wait()
		c.notify.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// announce tells the observer of a place in a queue, after a look at the queue if the
// contender is about to have one: who of other sessions is ahead is not known before.
func (c *Client) announce(ctx context.Context, path string, k *contender, token Token) {
	if f := c.cfg.observer.Enqueued; f != nil {
		v, err := k.q.judge(k, true)
		switch {
		case err != nil: // the contender finds that out itself
		case v.list != 0:
			k.q.list(ctx, v.list)
		case v.any, v.own != "":
			k.q.stop(k, v.own) // it does not wait here
		}
		f(ctx, Enqueued{Path: path, Node: k.node, Token: token, Ahead: k.q.ahead(k), Session: k.s.id})
	}
}
