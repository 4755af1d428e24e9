package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/inprocess"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/remote"
)

// host is the place where a client of the target lives, this process or a worker, and the
// client's way to the servers as the run sees it.
type host interface {
	// Credentials returns the latest session, its password, and the server that the client is
	// linked to in it now, 0 when there is none.
	Credentials() (session int64, password []byte, server int)
	// SessionTimeout returns the timeout that the servers have granted.
	SessionTimeout() time.Duration
	// Tear takes the network away for good.
	Tear()
	// Connects returns how often the client has tried to connect, zero when that is not known.
	Connects() histories.Connects
	// Called notes that the application has called the client, or was told something by it.
	Called()
	// LastSent returns the time of the client's last request other than a ping; zero when it is
	// not known.
	LastSent() time.Time
	// Answers returns the number of requests, pings excepted, that have been answered, 0 when
	// it is not known.
	Answers() int
	// Awake returns when the process runs: at once, or after a pause. It reports false when the
	// client is gone.
	Awake() bool
	// Gone reports whether the process has ended.
	Gone() bool
}

var (
	_ host = (*inprocess.Wire)(nil)
	_ host = (*remote.Client)(nil)
)

// Open starts the target's client, within the time of one attempt, unless another client of the
// application has started it.
func (c *Client) Open(ctx context.Context) error {
	a := c.app
	select {
	case a.opening <- struct{}{}: // held for the time of one attempt
		defer func() { <-a.opening }()
	case <-ctx.Done():
		return fmt.Errorf("client %d: %w", c.Index, context.Cause(ctx))
	}
	if target, h := a.Current(); target != nil {
		c.opened(target, h)
		return nil
	}
	if err := a.awaitStart(ctx); err != nil {
		return fmt.Errorf("client %d: %w", c.Index, err)
	}
	attempt, cancel := context.WithTimeout(ctx, 2*c.Run.SessionTimeout+5*time.Second)
	defer cancel()
	choices := a.choices()
	a.endEarly.Store(choices.EndEarly)
	env := lock.Env{
		Servers: slices.Clone(a.servers), SessionTimeout: c.Run.SessionTimeout, TickTime: c.Run.TickTime,
		Root: c.Run.Observer.LockRoot(), Auth: c.Run.Auth, Locks: c.Run.Locks, Enqueued: lock.Enqueued, Suspended: a.suspended, Told: c.told,
		Choices: choices,
	}
	start := c.openHere
	if c.Run.Hosted() {
		start = c.openInWorker
	}
	var err error
	c.Within(func() { err = start(attempt, env) })
	if err != nil {
		return fmt.Errorf("client %d: %w", c.Index, err)
	}
	return nil
}

// errKilled is the error of a client whose process has ended as it opened.
var errKilled = errors.New("its process was killed")

func (c *Client) openHere(ctx context.Context, env lock.Env) error {
	a := c.app
	w := inprocess.NewWire(a.ids, c.Run.Dialer, c.Run.SessionTimeout, len(a.members))
	a.begun(w)
	env.Dial = w.Dial
	env.Connection = c.standing(func() string {
		session, _, _ := w.Credentials()
		return lock.SessionName(session)
	})
	target, err := c.Run.Target.Open(ctx, env)
	if err != nil {
		w.Tear() // after this no connection that Open has left can keep a session
		return err
	}
	present, absent := context.WithCancel(context.Background())
	if !a.opened(target, w, absent) {
		absent()
		w.Tear()
		target.Crash()
		return errKilled
	}
	c.opened(target, w)
	o := c.Run.Observer
	c.Background.Go(func() { inprocess.KeepPresence(present, w, target, o.Presence(), c.Run.Auth.ACL(), o.Announced) })
	return nil
}

func (c *Client) openInWorker(ctx context.Context, env lock.Env) error {
	o := c.Run.Observer
	remote, err := c.Run.Workers.Open(ctx, c.Index, remote.Opening{
		Target: c.Run.Target.Name(), Env: env, IDs: c.app.ids, Presence: o.Presence(), Announced: o.Announced,
		Died: func(r *remote.Client) { c.bury(r, r) },
	})
	if err != nil {
		return err
	}
	c.app.begun(remote)
	c.app.opened(remote, remote, func() {})
	c.opened(remote, remote)
	return nil
}

// CloseWithin bounds the close of each client.
const CloseWithin = 3 * time.Second

// Close ends the client in good order, and its application.
func (c *Client) Close(ctx context.Context) error {
	target := c.take()
	h, absent, first := c.app.vacate(target)
	if !first {
		return nil
	}
	session, _, _ := h.Credentials()
	c.Run.Observer.Closing(session)
	absent()
	err := target.Close(ctx)
	h.Tear()
	if err != nil {
		return fmt.Errorf("client %d did not close: %w", c.Index, err)
	}
	return nil
}

// Abandon crashes the application of the client, whose own crash is on record.
func (c *Client) Abandon() {
	target := c.take()
	c.Retire()
	c.app.crash(target, c)
}

// Perish crashes the client, and its application, in the middle of its activity. Any goroutine
// may call it.
func (c *Client) Perish() { c.app.crash(c.Target(), nil) }

// Crash ends the client and its process, which holds no lock.
func (c *Client) Crash(e histories.Event) {
	e.Type, e.Process, e.Session = histories.Crash, c.Current(), c.SessionName()
	c.Record(e)
	c.Abandon()
}

// TearOut takes the network away from a client that does not return from a call, and crashes
// it.
func (c *Client) TearOut() {
	target := c.take()
	if h, absent, first := c.app.vacate(target); first {
		h.Tear()
		absent()
		c.Background.Go(target.Crash)
	}
}

// bury records that the client, if it still uses target, has crashed with its host: a worker
// process that has ended or a session that it shares. The calls of the client's loop then fail,
// one after the other, until it opens again.
func (c *Client) bury(target lock.Client, h host) {
	if c.Target() != target {
		return // it has crashed before, or has not opened again yet
	}
	session, _, _ := h.Credentials()
	c.Die(h, session)
}

// buried reports whether the client has died with its worker process, or its application, and
// has to open again.
func (c *Client) buried() bool {
	c.mu.Lock()
	target, h := c.target, c.host
	c.mu.Unlock()
	switch {
	case target == nil:
		return false
	case h.Gone():
		c.bury(target, h) // if it opened as the process ended
	case c.Run.Hosted() || c.Alive():
		return false
	}
	c.app.vacate(c.take())
	return true
}
