package recipes

import (
	"context"
	"net"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Client is a connection to an ensemble. It keeps one session at a time, and opens a new one when
// the servers have ended the old. A process usually needs one Client; any goroutine may call it.
type Client struct {
	cfg      config
	sessions *session.Keeper
	notify   *notifier
	holds    *registry
	cohorts  cohorts
}

// Connect opens a session on one of the servers and returns when it is established. The servers are
// a ZooKeeper connect string, see [ParseServers]. All paths of the client, its namespace included
// (see [WithNamespace]), are below the string's chroot. Connect tries all servers again and again
// until ctx ends, so give ctx a deadline.
//
// Connect tries each server once without a wait, and the client does so again when the connection
// of a session has broken. After that it waits between two attempts: 10 ms at first, twice as long
// after each attempt, at most a sixth of the session timeout or 2 s, with half of the wait random.
// A connection resets the wait when a write has been confirmed over it, or when it has lasted as
// long as the longest wait. The client makes at most 20 attempts in a fifth of a session timeout,
// or in 5 s if that is less. So it finds a healthy server that comes back within one longest wait
// for each server of the list.
//
// When the address of a server's name that the dialer chooses fails, or does not answer ZooKeeper's
// handshake soon, the client tries the name's other addresses one after the other, within the third
// of a session timeout that an attempt has, and uses the first that answers.
//
// The error has ctx's cause and the last error of each server. It is zk.ErrAuthFailed when the
// servers do not know the scheme of a [WithAuth] or refuse its credentials.
func Connect(ctx context.Context, servers []string, options ...Option) (*Client, error) {
	servers, chroot, err := ParseServers(servers)
	if err != nil {
		return nil, err
	}
	cfg := config{identity: hostAndProcess(), Config: session.Config{
		Servers:   servers,
		Timeout:   10 * time.Second,
		MaxPacket: juteMaxBuffer,
		ACL:       zk.WorldACL(zk.PermAll),
		Clock:     session.ClockOf(ctx),
		Callbacks: new(session.Callbacks),
	}}
	for _, o := range options {
		o(&cfg)
	}
	if cfg.Dial == nil {
		cfg.Dial = (&net.Dialer{}).DialContext
		if cfg.Lookup == nil {
			cfg.Lookup = net.DefaultResolver.LookupHost
		}
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if chroot != "" {
		if cfg.namespace != nil {
			chroot += *cfg.namespace
		}
		cfg.namespace = &chroot
	}
	c := &Client{cfg: cfg, notify: new(notifier)}
	c.holds = &registry{observer: &c.cfg.observer, notify: c.notify}
	c.cfg.Told = c.tell
	if c.sessions, err = session.Start(c.cfg.Config); err != nil {
		return nil, err
	}
	c.holds.sessions = c.sessions
	if _, err := c.sessions.Get(ctx); err != nil {
		c.Close(ctx)
		return nil, err
	}
	return c, nil
}

// tell posts a change of the connection's state to the listeners, which get the changes in order.
func (c *Client) tell(state session.State) {
	for _, f := range c.cfg.listeners {
		c.notify.post(func() { f(connectionStates[state]) })
	}
}

// resolve returns the full path for a path that a recipe was given. It does not change a bad
// path, which might look valid below the namespace. It replaces the empty path by the root, which
// is refused as well: an empty path with the names that a recipe appends might look valid.
func (c *Client) resolve(path string) string {
	if path == "" {
		return "/"
	}
	if c.cfg.namespace == nil || session.CheckPath(path) != nil {
		return path
	}
	return *c.cfg.namespace + path
}

// Conn returns the connection of the current session, for requests of your own, or nil when there
// is no session now. It is closed with its session: call Conn again then. Do not close it.
func (c *Client) Conn() *zk.Conn {
	if s := c.sessions.Current(); s != nil {
		return s.Conn
	}
	return nil
}

// SessionID returns the id of the current or, between two sessions, of the last session; 0 before
// the first.
func (c *Client) SessionID() int64 {
	if s := c.sessions.Current(); s != nil {
		return s.ID
	}
	return 0
}

// SessionTimeout returns the timeout that the servers granted the current session or, before the
// first, the one that the client asks for.
func (c *Client) SessionTimeout() time.Duration {
	if s := c.sessions.Current(); s != nil {
		return s.Timeout()
	}
	return c.cfg.Timeout
}

// Close ends the session, and with it every lease and acquire of the client. While connected it
// tells the servers, so that other clients need not wait for the session to expire. It waits for
// the client's goroutines, at most until ctx ends, and then returns ctx's cause; they still end.
// Later calls wait as the first does.
//
// Close may be called in any function that the client calls. In a connection listener, an observer
// or a listener for revocations it does not wait for notifications that are queued: they are
// delivered after the function has returned. In a dialer, a method of its connection, a function of
// a tls.Config, a SASL mechanism, a resolver or a grant rule Close waits for nothing, and the
// goroutines end after the function has returned.
func (c *Client) Close(ctx context.Context) error {
	c.sessions.Close()
	if c.cfg.Callbacks.Inside() {
		return nil
	}
	told := c.notify.calls.Inside()
	done := make(chan struct{})
	go func() {
		c.sessions.Wait()
		if !told {
			c.notify.wg.Wait()
		}
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// String returns the servers that the client was given, so that %v and log/slog do not print the
// client's fields, which change and hold the credentials.
func (c *Client) String() string { return "client of " + strings.Join(c.cfg.Servers, ",") }

// failed adds to err the call and its lock or locks, the reason for a missing connection if ctx
// ended without one, and the permission that was missing.
func (c *Client) failed(ctx context.Context, op, path string, err error) error {
	err = c.sessions.Permission(err, strings.Split(path, ", ")...)
	return opError(op, path, c.sessions.Explain(ctx, err))
}
