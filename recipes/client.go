package recipes

import (
	"context"
	"net"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Client is a connection to an ensemble. It keeps one session at a time, and
// opens a new one when the servers have ended the old. One Client a process is
// the normal case; its methods may be called from any goroutine.
type Client struct {
	cfg      config
	sessions *session.Keeper
	notify   *notifier
	holds    *registry
	cohorts  cohorts
}

// Connect opens a session on one of the servers and returns when it is established. The
// servers are ZooKeeper's connect string, whole or in pieces, see [ParseServers]: host:port
// each, and at the end a chroot, below which the client has everything, its namespace
// included (see [WithNamespace]). It tries all servers again and again until ctx ends:
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
// A server that is given by a name with several addresses is each of them: when the address
// that the dialer takes has not answered ZooKeeper's handshake soon, or fails, the others are
// tried as well, one after the other, within the third of a session timeout that an attempt
// has. The first to answer is used.
//
// Errors: ctx's cause, with the last error of each server, which is
// [ErrNotZooKeeper] for a server that cannot be one of ZooKeeper;
// zk.ErrAuthFailed, when the servers do not know the scheme of a WithAuth or
// refuse what it was given; [ErrBadPath] for a bad WithNamespace; [ErrBadIdentity] for a bad WithIdentity;
// [ErrBadTimeout] for a bad WithSessionTimeout or WithServerTick; [ErrBadSize]
// for a bad WithJuteMaxBuffer; [ErrBadServers] for servers that are no connect string.
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

// tell posts a change of the connection to the listeners, which get the changes in
// order.
func (c *Client) tell(state session.State) {
	for _, f := range c.cfg.listeners {
		c.notify.post(func() { f(connectionStates[state]) })
	}
}

// resolve returns the whole path of what a recipe was given. A bad path stays as
// it is: below the namespace it might look like a good one. The empty one becomes
// the root, which is as bad: what a recipe adds to it might look good as well.
func (c *Client) resolve(path string) string {
	if path == "" {
		return "/"
	}
	if c.cfg.namespace == nil || session.CheckPath(path) != nil {
		return path
	}
	return *c.cfg.namespace + path
}

// Conn returns the connection of the current session, for data of your own, or
// nil when there is none now. Each session has its own Conn, which is closed
// when the session has ended: ask again then. Do not close it.
func (c *Client) Conn() *zk.Conn {
	if s := c.sessions.Current(); s != nil {
		return s.Conn
	}
	return nil
}

// SessionID returns the current session, or 0 before there is one. After the
// session has ended it is still that session, until there is another.
func (c *Client) SessionID() int64 {
	if s := c.sessions.Current(); s != nil {
		return s.ID
	}
	return 0
}

// SessionTimeout returns the session timeout that the servers granted the
// current session, or the one asked for before there is one.
func (c *Client) SessionTimeout() time.Duration {
	if s := c.sessions.Current(); s != nil {
		return s.Timeout()
	}
	return c.cfg.Timeout
}

// Close ends the session, and with it every lease and acquire of the client.
// While connected it tells the servers, so that others need not wait for the
// session to expire. It waits for the client's goroutines, at most until ctx
// ends, and returns ctx's cause then; they end all the same. Later calls wait
// as the first does.
//
// Close may be called in any function that the client calls. In a connection listener, an
// observer or a listener for revocations it does not wait for what has still to be told:
// that is told when the function has returned. In a dialer, a method of the connection that
// it has made, a function of a tls.Config, a mechanism of SASL, a resolver or a grant rule it
// waits for nothing, and the goroutines end when the function has returned.
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

// String returns the servers that the client was given: %v and log/slog show no
// internals, which other goroutines change meanwhile and which hold the
// credentials.
func (c *Client) String() string { return "client of " + strings.Join(c.cfg.Servers, ",") }
