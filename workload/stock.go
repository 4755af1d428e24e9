package workload

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// stockClient is what the clients of the targets on a plain zk.Conn share: one
// connection that go-zookeeper keeps alive, through expiries too, and a set of
// goroutines that end with it.
type stockClient struct {
	env  Env
	conn *zk.Conn
	over chan struct{}  // closed by Crash and Close: no call can succeed any more
	end  func()         // closes over, once
	wg   sync.WaitGroup // owned by close: abandoned calls and the event drain
}

// openStock connects as an ordinary application does and waits for a session.
func openStock(ctx context.Context, env Env) (*stockClient, error) {
	conn, events, err := zk.Connect(env.Servers, env.SessionTimeout,
		zk.WithDialer(func(network, addr string, timeout time.Duration) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			return env.Dial(ctx, network, addr)
		}),
		zk.WithHostProvider(&inTurn{}),
		zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		return nil, err
	}
	c := &stockClient{env: env, conn: conn, over: make(chan struct{})}
	c.end = sync.OnceFunc(func() { close(c.over) })
	session := make(chan struct{})
	// Ends when the connection's loop has ended, which closes events.
	c.wg.Go(func() {
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

func (c *stockClient) Conn() *zk.Conn { return c.conn }

func (c *stockClient) Crash() {
	c.end()
	c.conn.Close()
	c.wg.Wait()
}

func (c *stockClient) Close(ctx context.Context) error {
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

// path is where a lock lives.
func (c *stockClient) path(lock string) string { return path.Join(c.env.Root, lock) }

// await calls f, which knows no context, and stops waiting for it when ctx
// ends. What f still achieves then is handed to undo.
func await[T any](ctx context.Context, c *stockClient, f func() (T, error), undo func(T)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result)
	// Ends when f returns, at the latest when the connection is closed.
	c.wg.Go(func() {
		v, err := f()
		select {
		case done <- result{v, err}:
		case <-ctx.Done():
			if err == nil {
				undo(v)
			}
		}
	})
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var zero T
		return zero, context.Cause(ctx)
	}
}

// deleteNode deletes a lock node as a careful user of the bare API does: until
// it knows that the node is gone.
func (c *stockClient) deleteNode(node string, giveUp <-chan struct{}) error {
	return c.untilKnown(func() error { return c.conn.Delete(node, -1) }, giveUp)
}

// untilKnown repeats an idempotent call until its outcome is known: until it
// succeeds or the servers refuse it; or until the client is closed, or giveUp.
// Its error says which.
func (c *stockClient) untilKnown(call func() error, giveUp <-chan struct{}) error {
	for {
		err := call()
		if err == nil || errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNotLocked) {
			return err
		}
		select {
		case <-giveUp:
			return err
		case <-c.over:
			return err
		case <-time.After(retryDelay):
		}
	}
}

// retryDelay keeps a loop of failing calls from spinning.
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
	// True makes the Conn wait a second: everyone was asked in vain.
	return s, h.failed > len(h.servers) && h.failed%len(h.servers) == 1%len(h.servers)
}

func (h *inTurn) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = 0
}

// silent discards what go-zookeeper logs: its disconnects are ours.
type silent struct{}

func (silent) Printf(string, ...any) {}
