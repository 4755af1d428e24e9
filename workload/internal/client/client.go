// Package client implements the clients of a run: each opens a client of the target, alone or
// together with others, in this process or in a worker process, and opens again after a crash.
package client

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/seeded"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/lock"
)

// Client is one of the run's clients. Its index stays; its process number
// changes when a process is retired, its connection when it crashes.
type Client struct {
	*journal.Processes
	*journal.Activity
	Run      *Shared
	Index    int
	Rand     *rand.Rand   // decides its cycles
	Asks     *rand.Rand   // decides when it asks locks about themselves
	More     *rand.Rand   // decides the choices of a recipe: cycles are the same for all
	Together *rand.Rand   // decides when its owner makes several calls at a time
	Left     atomic.Bool  // it gave its lease back when a guarded write may have been under way; reset by another client of its application
	app      *application // shares the client's session
	// Background is owned by Close: presence, watchers of holds, crashes.
	Background sync.WaitGroup
	calls      calls

	mu     sync.Mutex
	target lock.Client // its application's when it opened; nil between a crash and the next open
	host   host        // of the target, or of the one before
}

// New returns a client that is not open yet.
func New(r *Shared, index int) *Client {
	// One stream a client: the draws of one do not depend on others.
	stream := func(add uint64) *rand.Rand { return seeded.Rand(uint64(r.Seed), uint64(index)+add) }
	c := &Client{
		Processes: journal.NewProcesses(r.Journal, index, r.Clients),
		Run:       r, Index: index, Rand: stream(1), More: stream(1 << 32), Asks: stream(1 << 33), Together: stream(1 << 35),
	}
	c.Activity, c.app = journal.NewActivity(c.Current, r.Faults), newApplication(c)
	return c
}

// Target returns the client of the target; nil between a crash and the next open.
func (c *Client) Target() lock.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.target
}

// opened sets the client of the target that the client uses.
func (c *Client) opened(target lock.Client, h host) {
	c.Revive()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.target, c.host = target, h
}

// take stops the client's activity, and returns the client of the target that it used; nil if
// there was none.
func (c *Client) take() lock.Client {
	c.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.target
	c.target = nil
	return t
}

// credentials returns the session of the client, or the latest one if it has none, and the
// server that it is linked to.
func (c *Client) credentials() (session int64, password []byte, server int) {
	c.mu.Lock()
	h := c.host
	c.mu.Unlock()
	if h == nil {
		return 0, nil, 0
	}
	return h.Credentials()
}

// SessionName returns the session of the client in the form of a history.
func (c *Client) SessionName() string {
	session, _, _ := c.credentials()
	return lock.SessionName(session)
}

// SessionTimeout returns the timeout that the servers have granted, 0 when it is not known.
func (c *Client) SessionTimeout() time.Duration {
	c.mu.Lock()
	h := c.host
	c.mu.Unlock()
	return h.SessionTimeout()
}

// LastSent returns the time of the client's last request; zero when it is not known.
func (c *Client) LastSent() time.Time {
	c.mu.Lock()
	h := c.host
	c.mu.Unlock()
	return h.LastSent()
}

// Record records an event of a process, as Processes.Record does. From now on the client may ask the
// servers again what it knows.
func (c *Client) Record(e histories.Event) {
	c.Called()
	c.Processes.Record(e)
}

// RecordAlive is Processes.RecordAlive as Record is Processes.Record.
func (c *Client) RecordAlive(e histories.Event) {
	c.Called()
	c.Processes.RecordAlive(e)
}

// RecordOfClient is Processes.RecordOfClient as Record is Processes.Record.
func (c *Client) RecordOfClient(e histories.Event) bool {
	c.Called()
	return c.Processes.RecordOfClient(e)
}

// Called notes that the application calls the client, or that the run itself sends a request in its
// session.
func (c *Client) Called() {
	c.mu.Lock()
	h := c.host
	c.mu.Unlock()
	if h != nil {
		h.Called()
	}
}

// Status describes the client for the nemesis.
func (c *Client) Status() fault.Client {
	out := fault.Client{Index: c.Index, Process: c.Current(), Links: c.app.Links, Together: c.app.indexes()}
	c.Activity.Status(&out)
	out.EndsHold = c.EndsEarly()
	if c.Run.Processes {
		out.Worker = c.app.number()
	}
	if c.Target() != nil {
		out.Session, out.Password, out.Linked = c.credentials()
	}
	return out
}

// EndsEarly reports whether the target's client gives up its locks when it is cut off, see
// lock.Choices.
func (c *Client) EndsEarly() bool { return c.app.endEarly.Load() }

// told implements lock.Env.Told: it records the notification to an observer of the client.
func (c *Client) told(t lock.Notification) {
	if _, of := c.Run.Locks[t.Lock]; !of || !c.Run.Promises.Says {
		return
	}
	c.RecordOfClient(histories.Event{
		Type: histories.Says, Lock: t.Lock, Token: t.Token, Session: lock.SessionName(t.Session), Owner: t.Owner,
		Saying: &histories.Saying{Asked: c.Run.Journal.Elapsed(), Told: t.What},
	})
}

// standing returns lock.Env.Connection for another client of the target: a function that
// records the states of its connection. The states reported while it is being opened after a
// crash are recorded before the next state: the client has no process until then. session returns
// the client's session.
func (c *Client) standing(session func() string) func(state string) {
	number := int(c.Run.opened.Add(1))
	var mu sync.Mutex // guards said
	var said []histories.Event
	return func(state string) {
		if !c.Run.Promises.Says {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		said = append(said, histories.Event{
			Type: histories.Says, Session: session(),
			Saying: &histories.Saying{Asked: c.Run.Journal.Elapsed(), Connection: state, Client: number},
		})
		for len(said) > 0 && c.RecordOfClient(said[0]) {
			said = said[1:]
		}
	}
}

// Awake returns when the process that the client lives in runs: a process that was paused acts
// when it wakes. It reports false when the process has ended.
func (c *Client) Awake() bool {
	c.mu.Lock()
	target, h := c.target, c.host
	c.mu.Unlock()
	return (target == nil || h.Awake()) && c.Alive()
}

// retry is the pause between two attempts to open a client.
const retry = 50 * time.Millisecond

// EnsureOpen opens the client again after a crash, for as long as it takes.
func (c *Client) EnsureOpen(ctx context.Context) bool {
	for c.Target() == nil || c.buried() {
		if ctx.Err() != nil {
			return false
		}
		if err := c.Open(ctx); err != nil {
			wait.For(ctx, retry)
		}
	}
	return true
}
