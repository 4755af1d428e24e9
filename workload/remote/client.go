// Package remote is the run's side of worker processes: it starts, pauses and kills them, and
// drives clients of a lock in them ([Client]), by the protocol of docs/worker.md. Package
// worker is the other side.
package remote

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
)

// Client is a lock.Client in a worker process. It acquires the locks of any recipe, even one
// that its target does not offer: see Offers.
type Client struct {
	recipes
	connection *connection
	number     int // its own: a client that opens again is another client to the worker
	opening    Opening
	has        []histories.Recipe
	torn       chan struct{} // closed when the run has given it up
	tearOnce   sync.Once
	crash      sync.WaitGroup // owned by Crash: the command that tear has sent

	mu       sync.Mutex
	session  int64
	password []byte
	granted  time.Duration
	server   int

	counted   histories.Connects // from its worker, once the client had ended
	countedAt time.Time
}

// Opening holds the environment that a client in a worker process is opened with, and the
// functions that are called with its events.
type Opening struct {
	Target    string         // its name
	Env       lock.Env       // without the functions that a worker process cannot call
	IDs       map[string]int // of the servers, by their address in env
	Presence  string         // where each session keeps its presence node
	Announced func(session, czxid int64)
	Died      func(*Client) // the process has ended; no other event of it follows
}

// where returns the environment for the command to open.
func (o Opening) where() *protocol.Where {
	e := &protocol.Where{
		Target: o.Target, Timeout: o.Env.SessionTimeout.Milliseconds(), Tick: o.Env.TickTime.Milliseconds(),
		Root: o.Env.Root, Presence: o.Presence, Locks: o.Env.Locks,
		Scheme: o.Env.Auth.Scheme(), Secret: o.Env.Auth.Secret(),
	}
	for _, addr := range o.Env.Servers {
		e.Servers = append(e.Servers, protocol.Server{ID: o.IDs[addr], Addr: addr})
	}
	return e
}

// openClient starts a client in the worker process that t talks to.
func openClient(ctx context.Context, t *connection, o Opening) (*Client, error) {
	c := &Client{connection: t, opening: o, torn: make(chan struct{})}
	c.recipes = recipes{c.locker(histories.Mutex, "")}
	t.register(c)
	l, err := c.ask(ctx, protocol.Command{Do: protocol.DoOpen, Env: o.where()}, nil)
	if err != nil {
		t.drop(c)
		return nil, err
	}
	c.has = l.Offers
	return c, nil
}

func (c *Client) ask(ctx context.Context, what protocol.Command, lease *lease) (protocol.Line, error) {
	what.Client = c.number
	return c.connection.ask(ctx, what, lease, c.torn)
}

// Offers reports whether the target's client has a recipe.
func (c *Client) Offers(r histories.Recipe) bool { return slices.Contains(c.has, r) }

// told handles an event of the client.
func (c *Client) told(l protocol.Line) error {
	switch l.Event {
	case protocol.SaySuspended, protocol.SayResumed:
		c.opening.Env.Suspended(l.Token, l.Event == protocol.SaySuspended)
		return nil
	}
	session, err := sessionNumber(l.Session)
	if err != nil {
		return err
	}
	if l.Event == protocol.SayPresence {
		c.opening.Announced(session, l.Czxid)
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session, c.password, c.granted, c.server = session, l.Password, time.Duration(l.Timeout)*time.Millisecond, l.Server
	return nil
}

// Credentials returns the latest session, its password, and the server that the client is
// linked to, 0 when there is none.
func (c *Client) Credentials() (session int64, password []byte, server int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Gone() {
		return c.session, c.password, 0
	}
	return c.session, c.password, c.server
}

// SessionTimeout returns the timeout that the servers have granted.
func (c *Client) SessionTimeout() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.granted
}

// Connects returns how often the client has tried to connect, zero until its worker has
// reported that.
func (c *Client) Connects() histories.Connects {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.counted
	out.Ago += time.Since(c.countedAt)
	return out
}

// Called does nothing: what a client asks again is not known here.
func (c *Client) Called() {}

// LastSent returns zero: the time of the last request is not known here.
func (c *Client) LastSent() time.Time { return time.Time{} }

// Answers returns 0: the number is not known here.
func (c *Client) Answers() int { return 0 }

// Tear ends the client as the death of its process would, and all calls that wait for it.
func (c *Client) Tear() {
	c.tearOnce.Do(func() {
		c.connection.drop(c)
		close(c.torn)
		// Ends with the answer, at the latest with the process.
		c.crash.Go(func() {
			_, _ = c.connection.ask(context.Background(), protocol.Command{Do: protocol.DoCrash, Client: c.number}, nil, nil)
		})
	})
}

// Awake returns when no fault pauses the client's process: at once, or when the process has
// answered after the pause. It reports false when the client is gone.
func (c *Client) Awake() bool {
	if !c.connection.late.isPaused() {
		select {
		case <-c.torn:
			return false
		default:
			return !c.Gone()
		}
	}
	_, err := c.ask(context.Background(), protocol.Command{Do: protocol.DoEcho}, nil)
	return err == nil
}

// Gone reports whether the process has ended.
func (c *Client) Gone() bool {
	select {
	case <-c.connection.over:
		return true
	default:
		return false
	}
}

// Conn returns nil: the presence node is made in the worker.
func (c *Client) Conn() *zk.Conn { return nil }

// Crash returns when the client has ended.
func (c *Client) Crash() {
	c.Tear()
	c.crash.Wait()
}

// Close ends the client in good order. It is no error if its process has ended.
func (c *Client) Close(ctx context.Context) error {
	_, err := c.ask(ctx, protocol.Command{Do: protocol.DoClose}, nil)
	c.connection.drop(c)
	if c.Gone() {
		return nil
	}
	return err
}

// acquire sends one of the commands that acquire a lease.
func (c *Client) acquire(ctx context.Context, what protocol.Command) (*lease, error) {
	lease := &lease{c: c, lost: make(chan struct{})}
	l, err := c.ask(ctx, what, lease)
	if err != nil {
		return nil, err
	}
	session, err := sessionNumber(l.Session)
	if err != nil {
		session, _, _ = c.Credentials()
	}
	lease.session, lease.token, lease.tokens = session, l.Token, l.Tokens
	return lease, nil
}

// lease is a Lease in a worker process.
type lease struct {
	c       *Client
	id      int64 // of the command that acquired it
	session int64
	token   histories.Token
	tokens  []histories.Token
	lost    chan struct{}
	once    sync.Once

	mu       sync.Mutex
	onRevoke []func()
}

func (l *lease) Token() histories.Token    { return l.token }
func (l *lease) Tokens() []histories.Token { return l.tokens }
func (l *lease) SessionID() int64          { return l.session }

// Lost is closed by the end of the process too: a crash is on record by then.
func (l *lease) Lost() <-chan struct{} { return l.lost }

func (l *lease) lose() { l.once.Do(func() { close(l.lost) }) }

// Valid asks the process, and so waits for as long as it is paused.
func (l *lease) Valid() bool {
	answer, err := l.c.ask(context.Background(), protocol.Command{Do: protocol.DoValid, Lease: l.id}, nil)
	return err == nil && answer.Valid
}

func (l *lease) Release(ctx context.Context) error {
	_, err := l.c.ask(ctx, protocol.Command{Do: string(histories.Release), Lease: l.id}, nil)
	l.c.connection.forget(l.id)
	return err
}

// SetGuarded returns once the process runs, however long ago the write was requested.
func (l *lease) SetGuarded(ctx context.Context, node string, data []byte) error {
	_, err := l.c.ask(ctx, protocol.Command{Do: protocol.DoSet, Lease: l.id, Node: node, Data: string(data)}, nil)
	return err
}

func (l *lease) OnRevoke(f func()) {
	l.mu.Lock()
	l.onRevoke = append(l.onRevoke, f)
	l.mu.Unlock()
	_, _ = l.c.ask(context.Background(), protocol.Command{Do: protocol.DoListen, Lease: l.id}, nil)
}

func (l *lease) revoked() {
	l.mu.Lock()
	all := slices.Clone(l.onRevoke)
	l.mu.Unlock()
	for _, f := range all {
		f()
	}
}

// sessionNumber parses a session name of lock.SessionName.
func sessionNumber(name string) (int64, error) {
	n, err := strconv.ParseUint(name, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no session", name)
	}
	return int64(n), nil
}
