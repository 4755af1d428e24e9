package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/worker"
)

// inMemory is a lock in the memory of its process, which every client shares.
type inMemory struct {
	turn chan struct{} // has a token when it is free

	mu     sync.Mutex
	token  int64
	holder *memoryLease
}

func newMemory() *inMemory {
	m := &inMemory{turn: make(chan struct{}, 1)}
	m.turn <- struct{}{}
	return m
}

func (*inMemory) Name() string { return "memory" }

func (*inMemory) Description() string { return "" }

func (*inMemory) Recipe() string { return "mutex" }

func (*inMemory) Promises(lock.Settings) histories.Promises { return histories.Promises{} }

func (m *inMemory) Open(_ context.Context, env lock.Env) (lock.Client, error) {
	return &memoryClient{m, env}, nil
}

type memoryClient struct {
	*inMemory
	env lock.Env
}

func (*memoryClient) Conn() *zk.Conn { return nil }

func (c *memoryClient) Crash() { c.lose() }

func (*memoryClient) Close(context.Context) error { return nil }

func (c *memoryClient) Revocable() lock.RevokerLocker { return c }

func (c *memoryClient) Holder(context.Context, string) (histories.Token, string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holder == nil {
		return histories.Token{}, "", lock.ErrNotHeld
	}
	return c.holder.token, "the node", nil
}

func (c *memoryClient) Revoke(_ context.Context, node string) error {
	c.mu.Lock()
	h := c.holder
	c.mu.Unlock()
	if node != "the node" || h == nil || h.revoked == nil {
		return errors.New("the reader is gone")
	}
	h.revoked()
	return nil
}

// lose takes the lock away from its holder.
func (m *inMemory) lose() {
	m.mu.Lock()
	h := m.holder
	m.mu.Unlock()
	if h != nil {
		h.end()
	}
}

func (c *memoryClient) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	c.env.Enqueued(ctx, lock.Place{Lock: name, Sequence: 7, Session: "0x0000000000000009"})
	select {
	case <-c.turn:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token++
	c.holder = &memoryLease{m: c.inMemory, token: histories.Token{Zxid: c.token}, lost: make(chan struct{})}
	return c.holder, nil
}

func (c *memoryClient) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	c.mu.Lock()
	held := c.holder != nil
	c.mu.Unlock()
	if held {
		return nil, fmt.Errorf("%w: somebody has it", lock.ErrNotAcquired)
	}
	return c.Acquire(ctx, name)
}

type memoryLease struct {
	m       *inMemory
	token   histories.Token
	lost    chan struct{}
	once    sync.Once
	revoked func()
}

func (l *memoryLease) Token() histories.Token { return l.token }

func (l *memoryLease) Lost() <-chan struct{} { return l.lost }

func (l *memoryLease) OnRevoke(f func()) { l.revoked = f }

func (l *memoryLease) Valid() bool {
	select {
	case <-l.lost:
		return false
	default:
		return true
	}
}

func (l *memoryLease) end() {
	l.once.Do(func() {
		close(l.lost)
		l.m.mu.Lock()
		l.m.holder = nil
		l.m.mu.Unlock()
		l.m.turn <- struct{}{}
	})
}

func (l *memoryLease) Release(context.Context) error {
	if !l.Valid() {
		return lock.ErrLost
	}
	l.end()
	return nil
}

// hostedMemory is a worker that hosts a lock in memory, in this process, and the connection with
// it. die ends it as a kill does: in the middle of everything.
func hostedMemory(t *testing.T) (connection *connection, m *inMemory, die func()) {
	t.Helper()
	m = newMemory()
	connection, die = hosted(t, m)
	return connection, m, die
}

// hosted does as hostedMemory, for any target.
func hosted(t *testing.T, target lock.Target) (connection *connection, die func()) {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	connection = newConnection("worker 1", stdin, newLateness(time.Second))
	var wg sync.WaitGroup
	wg.Go(connection.write)
	wg.Go(func() {
		if err := worker.Serve(context.Background(), in, out, target); err != nil {
			t.Error(err)
		}
		_ = out.Close()
	})
	wg.Go(func() {
		if err := connection.listen(stdout); err != nil {
			t.Error(err)
		}
		connection.close(nil, func() {})
		_ = stdout.Close()
	})
	die = func() {
		_ = stdout.Close()
		_ = stdin.Close()
	}
	t.Cleanup(func() {
		die()
		wg.Wait()
		goleak.VerifyNone(t, leaks)
	})
	<-connection.hello
	return connection, die
}

func openMemory(t *testing.T, connection *connection) *Client {
	t.Helper()
	c, err := openClient(t.Context(), connection, Opening{Target: "memory", Env: lock.Env{SessionTimeout: 2 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
