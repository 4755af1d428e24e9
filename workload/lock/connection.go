package lock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
)

// Connection is the connection of a [Client] that uses a plain [zk.Conn], which go-zookeeper
// keeps alive, through the end of sessions too. A client that embeds a *Connection has the
// methods Conn, Crash and Close; it adds Acquire and TryAcquire. The targets zk-lock, naive,
// plain and plain-lists-once, and workload/examples/mylock, connect through it.
type Connection struct {
	// Env is the environment given to Connect.
	Env Env

	conn *zk.Conn
	over chan struct{} // closed by Crash and Close: no call can succeed any more

	mu    sync.Mutex
	ended bool           // over is closed, and wg takes nothing more
	wg    sync.WaitGroup // owned by Crash: abandoned calls and the event drain
}

// spawn runs f in a goroutine that Crash waits for. It reports whether it does so: it does not
// once the connection is being closed.
func (c *Connection) spawn(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	c.wg.Go(f)
	return true
}

// end makes all further calls fail.
func (c *Connection) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.ended = true
		close(c.over)
	}
}

// Connect connects to the servers of env as an ordinary application does, through env.Dial, and
// waits for a session. It authenticates with env.Auth. The error is that of the last step, or
// ctx's; no goroutine is left running after an error.
func Connect(ctx context.Context, env Env) (*Connection, error) {
	conn, events, err := zk.Connect(env.Servers, env.SessionTimeout,
		zk.WithDialer(func(network, addr string, timeout time.Duration) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			conn, err := env.Dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return ensemble.Guard(env.Auth.Authenticate(conn, addr, env.SessionTimeout)), nil // go-zookeeper has no bound of its own
		}),
		zk.WithHostProvider(&inTurn{}),
		zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		return nil, err
	}
	c := &Connection{Env: env, conn: conn, over: make(chan struct{})}
	session := make(chan struct{})
	// Ends when the connection's loop has ended, which closes events.
	c.spawn(func() {
		once := sync.OnceFunc(func() { close(session) })
		for e := range events {
			if e.State == zk.StateHasSession {
				once()
			}
		}
	})
	select {
	case <-session:
		if err := env.Auth.Add(ctx, conn); err != nil {
			c.Crash()
			return nil, err
		}
		return c, nil
	case <-ctx.Done():
		c.Crash()
		return nil, fmt.Errorf("no session: %w", context.Cause(ctx))
	}
}

// Conn returns the connection.
func (c *Connection) Conn() *zk.Conn { return c.conn }

// Crash ends the connection, and returns when all its goroutines have ended.
func (c *Connection) Crash() {
	c.end()
	c.conn.Close()
	c.wg.Wait()
}

// Close ends the connection, and its session if the servers can be reached. It
// does not wait for longer than ctx lasts, and returns ctx's error then.
func (c *Connection) Close(ctx context.Context) error {
	done := make(chan struct{})
	// Ends when the client's goroutines have ended.
	go func() {
		defer close(done)
		c.Crash() // for go-zookeeper the difference is whether the network is there
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Path returns the path of a lock: Env.Root/name.
func (c *Connection) Path(name string) string { return path.Join(c.Env.Root, name) }

// ACL returns the ACL to create nodes with: Env.Auth's.
func (c *Connection) ACL() []zk.ACL { return c.Env.Auth.ACL() }

// Await calls f, which takes no context, and returns its results. When ctx ends, Await stops
// waiting for f and returns ctx's error. If f succeeds after that, undo is called with its
// value, so that nothing is left of it; a nil undo does nothing. Crash and Close wait for both
// f and undo. After them Await does not call f, and returns [zk.ErrClosing].
func Await[T any](ctx context.Context, c *Connection, f func() (T, error), undo func(T)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result)
	// Ends when f returns, at the latest when the connection is closed.
	var zero T
	if !c.spawn(func() {
		v, err := f()
		select {
		case done <- result{v, err}:
		case <-ctx.Done():
			if err == nil && undo != nil {
				undo(v)
			}
		}
	}) {
		return zero, zk.ErrClosing
	}
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return zero, context.Cause(ctx)
	}
}

// AwaitDone is Await for an f without a value.
func AwaitDone(ctx context.Context, c *Connection, f func() error, undo func()) error {
	_, err := Await(ctx, c, func() (struct{}, error) { return struct{}{}, f() }, func(struct{}) {
		if undo != nil {
			undo()
		}
	})
	return err
}

// Delete deletes a node as a careful user of the bare API does: it repeats the call until it is
// known that the node is gone. See UntilKnown.
func (c *Connection) Delete(ctx context.Context, node string) error {
	return c.UntilKnown(ctx, func() error { return c.conn.Delete(node, -1) })
}

// UntilKnown repeats an idempotent call until its outcome is known: until it
// succeeds, or the servers say that the node is not there ([zk.ErrNoNode]) or the
// lock is not held ([zk.ErrNotLocked]); or until ctx ends or the connection is
// closed. It returns the error of the last call.
func (c *Connection) UntilKnown(ctx context.Context, call func() error) error {
	for {
		err := call()
		if err == nil || errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNotLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-c.over:
			return err
		case <-time.After(retryDelay):
		}
	}
}

// retryDelay is the pause between failing calls, so that their loop does not spin.
const retryDelay = 20 * time.Millisecond

// inTurn offers the servers in the order given. go-zookeeper's own provider
// shuffles them by a seed that cannot be set.
type inTurn struct {
	mu      sync.Mutex
	servers []string
	next    int
	failed  int // offered since the last success
}

func (h *inTurn) Init(servers []string) error { h.servers = servers; return nil }
func (h *inTurn) Len() int                    { return len(h.servers) }

func (h *inTurn) Next() (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.servers[h.next%len(h.servers)]
	h.next++
	h.failed++
	// True makes the Conn wait a second: no server has answered.
	return s, h.failed > len(h.servers) && h.failed%len(h.servers) == 1%len(h.servers)
}

func (h *inTurn) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = 0
}

// silent discards the log of go-zookeeper: the harness causes its disconnects.
type silent struct{}

func (silent) Printf(string, ...any) {}
