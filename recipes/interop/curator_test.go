package interop_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// curatorTarget is Curator's InterProcessMutex, used as its documentation says:
// a holder gives up once its connection is SUSPENDED.
type curatorTarget struct{}

func (curatorTarget) Name() string   { return "curator" }
func (curatorTarget) Recipe() string { return "mutex" }
func (curatorTarget) Description() string {
	return "Curator's InterProcessMutex, whose holders give up when the connection is SUSPENDED"
}

// Promises: SUSPENDED is notification of the loss, and the lock node's czxid is a token,
// although neither is a part of Curator's lock.
func (curatorTarget) Promises(s lock.Settings) histories.Promises {
	return histories.Promises{Tokens: true, TellsLoss: true, FIFO: true, Reentrant: true, LossBound: s.SessionTimeout}
}

func (curatorTarget) Open(ctx context.Context, env lock.Env) (_ lock.Client, err error) {
	c := &curatorWorker{env: env, name: fmt.Sprintf("c%d", nextID.Add(1)), made: map[string]bool{}}
	defer func() {
		if err != nil {
			c.closeRelays()
		}
	}()
	var addrs []string
	for _, s := range env.Servers {
		// The Java process dials through the harness, so that the harness knows Curator's
		// sessions, can expire them, and can cut a client off from the network when it crashes.
		r, err := links.OpenRelay(func(ctx context.Context) (net.Conn, error) { return env.Dial(ctx, "tcp", s) })
		if err != nil {
			return nil, err
		}
		c.relays = append(c.relays, r)
		addrs = append(addrs, r.Addr())
	}
	_, err = java.do(ctx, c.name, "open", c.name, strings.Join(addrs, ","), env.SessionTimeout.Milliseconds())
	return c, err
}

// curatorWorker is one client. One thread carries out its commands, and owns its locks, as a
// process of the workload does.
type curatorWorker struct {
	env    lock.Env
	name   string
	relays []*links.Relay
	made   map[string]bool // locks that the peer has created
}

func (c *curatorWorker) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return c.acquire(ctx, name)
}

func (c *curatorWorker) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return c.acquire(ctx, name, 0)
}

// Reenter relies on the one thread. The lease reports the loss of the outer one.
func (c *curatorWorker) Reenter(ctx context.Context, name string, held lock.Lease) (lock.Lease, error) {
	outer := held.(*curatorLease)
	call := java.send(c.name, "acquire", c.name, nil, name)
	defer call.forget()
	if _, err := call.wait(ctx); err != nil {
		if !outer.Valid() {
			err = errors.Join(lock.ErrLost, err)
		}
		return nil, err
	}
	inner := *outer
	inner.outermost = false
	return &inner, nil
}

func (c *curatorWorker) acquire(ctx context.Context, name string, wait ...any) (lock.Lease, error) {
	if !c.made[name] {
		if _, err := java.do(ctx, c.name, "observed-mutex", c.name, name, path.Join(c.env.Root, name)); err != nil {
			return nil, err
		}
		c.made[name] = true
	}
	call := java.send(c.name, "acquire", c.name, func(a javaAnswer) {
		c.env.Enqueued(ctx, lock.Place{Token: histories.Token{Zxid: a.Zxid}, Ahead: a.Ahead})
	}, append([]any{name}, wait...)...)
	a, err := call.wait(ctx)
	if err == nil && !a.Done {
		err = lock.ErrNotAcquired
	}
	if err != nil {
		call.forget()
		return nil, err
	}
	return &curatorLease{c, call, name, histories.Token{Zxid: a.Zxid}, a.Session, true}, nil
}

// Conn returns nil: the client has no connection in Go.
func (c *curatorWorker) Conn() *zk.Conn { return nil }

// Crash closes the client. The harness has closed its sockets already.
func (c *curatorWorker) Crash() { _ = c.Close(context.Background()) }

func (c *curatorWorker) Close(ctx context.Context) error {
	_, err := java.do(ctx, c.name, "close", c.name)
	c.closeRelays()
	return err
}

func (c *curatorWorker) closeRelays() {
	for _, r := range c.relays {
		_ = r.Close() // it may be closed already
	}
}

// curatorLease is a hold of Curator's mutex, or one more level of it.
type curatorLease struct {
	client    *curatorWorker
	call      *javaCall // the outermost acquire
	lock      string
	token     histories.Token
	session   int64
	outermost bool
}

func (l *curatorLease) Token() histories.Token { return l.token }
func (l *curatorLease) SessionID() int64       { return l.session }

func (l *curatorLease) Lost() <-chan struct{} { return l.call.lost }
func (l *curatorLease) Valid() bool           { return !l.call.wasLost() }

func (l *curatorLease) Release(ctx context.Context) error {
	if l.outermost {
		defer l.call.forget()
	}
	_, err := java.do(ctx, l.client.name, "release", l.client.name, l.lock)
	if err == nil && !l.Valid() {
		err = lock.ErrLost
	}
	return err
}

var _ lock.Reenterer = (*curatorWorker)(nil)
