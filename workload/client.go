package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload/lock"
)

// client is one of the run's clients. Its index stays; its process number
// changes when a process is retired, its connection when it crashes.
type client struct {
	run   *run
	index int
	rand  *rand.Rand     // decides its cycles
	asks  *rand.Rand     // decides when it asks locks of themselves
	more  *rand.Rand     // decides what recipes have in particular: the same cycles whatever is driven
	home  *household     // who shares its session
	wg    sync.WaitGroup // owned by close: presence, hold watchers, crashes

	gate   sync.Mutex // orders what is recorded with the end of its worker process
	over   int        // of its processes, those below have crashed or were retired on record
	killed int        // those below have died with their worker process, or before
	dead   bool       // it has died with one, or with its household, and has not opened again yet

	mu        sync.Mutex
	process   int
	target    lock.Client // its household's when it opened; nil between a crash and the next open
	wire      clientNetwork
	waiting   bool
	queuing   bool             // its acquire has not told its place in the queue yet
	inside    bool             // a double barrier
	releasing bool             // a release, or a leave, is under way
	at        histories.Recipe // what its cycle is of
	place     stand            // in a queue, that it was last told of
	held      []*hold          // what it believes to hold
	strikes   int              // faults that have hit it
	endure    time.Time        // until when the last of them wants it to hold on
}

func newClient(r *run, index int) *client {
	c := &client{
		run: r, index: index, process: index,
		// One stream a client: what one draws does not depend on others.
		rand: rand.New(rand.NewPCG(uint64(r.cfg.Seed), uint64(index)+1)),
		more: rand.New(rand.NewPCG(uint64(r.cfg.Seed), uint64(index)+1<<32)),
		asks: rand.New(rand.NewPCG(uint64(r.cfg.Seed), uint64(index)+1<<33)),
	}
	c.home = newHousehold(c)
	return c
}

// open starts the target's client and gives it the time of one attempt, unless
// another member of the household has.
func (c *client) open(ctx context.Context) error {
	h := c.home
	h.opening.Lock() // for the time of one attempt
	defer h.opening.Unlock()
	if target, w := h.current(); target != nil {
		c.opened(target, w)
		return nil
	}
	attempt, cancel := context.WithTimeout(ctx, 2*c.run.cfg.SessionTimeout+5*time.Second)
	defer cancel()
	if c.run.workers != nil {
		remote, err := c.run.workers.of(c.index).open(attempt, c)
		if err != nil {
			return fmt.Errorf("client %d: %w", c.index, err)
		}
		h.begun(remote)
		h.opened(remote, remote, func() {})
		c.opened(remote, remote)
		return nil
	}
	w := newWire(h.ids, c.run.cfg.SessionTimeout)
	h.begun(w)
	target, err := c.run.cfg.Target.Open(attempt, lock.Env{
		Servers: slices.Clone(h.servers), Dial: w.dial,
		SessionTimeout: c.run.cfg.SessionTimeout, TickTime: c.run.cfg.Ensemble.TickTime(),
		Root: c.run.lockRoot(), Auth: c.run.cfg.Auth, Locks: c.run.locks, Enqueued: lock.Enqueued, Suspended: h.suspended, Told: c.told,
	})
	if err != nil {
		w.tear() // whatever Open has left behind cannot hold a session
		return fmt.Errorf("client %d: %w", c.index, err)
	}
	present, absent := context.WithCancel(context.Background())
	h.opened(target, w, absent)
	c.opened(target, w)
	c.wg.Go(func() { c.run.observer.keepPresence(present, w, target) })
	return nil
}

func (c *client) opened(target lock.Client, wire clientNetwork) {
	c.gate.Lock()
	c.dead = false
	c.gate.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.target, c.wire = target, wire
}

// ensureOpen opens the client again after a crash, for as long as it takes.
func (c *client) ensureOpen(ctx context.Context) bool {
	for c.client() == nil || c.buried() {
		if ctx.Err() != nil {
			return false
		}
		if err := c.open(ctx); err != nil {
			pause(ctx, failureRest, nil)
		}
	}
	return true
}

// abandon is the crash of the client, which is on record, and of its household.
func (c *client) abandon() {
	target := c.take()
	c.retire()
	c.home.crash(target, c)
}

// perish is the crash of the client, and of its household, in the middle of whatever
// it does. It may be called by any goroutine.
func (c *client) perish() { c.home.crash(c.client(), nil) }

// crash ends the client and its process, which holds no lock, without a word.
func (c *client) crash(e histories.Event) {
	e.Type, e.Process, e.Session = histories.Crash, c.current(), c.sessionName()
	c.record(e)
	c.abandon()
}

// close ends the client in good order, and its household.
func (c *client) close(ctx context.Context) error {
	target := c.take()
	w, absent, first := c.home.vacate(target)
	if !first {
		return nil
	}
	session, _, _ := w.credentials()
	c.run.observer.closing(session)
	absent()
	err := target.Close(ctx)
	w.tear()
	if err != nil {
		return fmt.Errorf("client %d did not close: %w", c.index, err)
	}
	return nil
}

// take leaves the client without what it was doing, and returns what it was a
// client of; nil if it was none.
func (c *client) take() lock.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.target
	c.run.held.Add(-int64(len(c.held)))
	c.target, c.waiting, c.queuing, c.inside, c.releasing, c.held = nil, false, false, false, false, nil
	return t
}

// retire gives the client its next process number, Jepsen's way.
func (c *client) retire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.process += c.run.cfg.Clients
}

func (c *client) client() lock.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.target
}

func (c *client) current() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process
}

func (c *client) strikeCount() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.strikes
}

// enduring is how long the last fault wants a holder to hold on.
func (c *client) enduring() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Until(c.endure)
}

// becomes changes what the client does, for faults to meet.
func (c *client) becomes(change func()) {
	c.mu.Lock()
	change()
	c.mu.Unlock()
	c.run.meet(c)
}

func (c *client) setWaiting(yes bool) { c.becomes(func() { c.waiting = yes }) }

// setAsking says that it acquires, without a place in the queue yet, or does no
// more.
func (c *client) setAsking(yes bool) {
	c.becomes(func() { c.waiting, c.queuing, c.place = yes, yes, stand{} })
}

// setQueued says that its acquire has told a place in the queue.
func (c *client) setQueued(at stand) { c.becomes(func() { c.queuing, c.place = false, at }) }

func (c *client) setInside(yes bool) { c.becomes(func() { c.inside = yes }) }

func (c *client) setReleasing(yes bool) { c.becomes(func() { c.releasing = yes }) }

func (c *client) setAt(r histories.Recipe) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = r
}

func (c *client) addHold(h *hold) {
	c.becomes(func() {
		c.held = append(c.held, h)
		c.run.held.Add(1)
	})
}

func (c *client) dropHold(h *hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.held)
	c.held = slices.DeleteFunc(c.held, func(other *hold) bool { return other == h })
	c.run.held.Add(int64(len(c.held) - before))
}

// holds returns how much the client believes to hold.
func (c *client) holds() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.held)
}

// holding returns the recipes of what the client believes to hold, or is inside.
func (c *client) holding() (recipes []histories.Recipe) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.held {
		recipes = append(recipes, c.run.locks[h.lock()].Recipe)
	}
	if c.inside {
		recipes = append(recipes, histories.DoubleBarrier)
	}
	return recipes
}

// suspended is told of a lease of the household, perhaps the client's.
func (c *client) suspended(token histories.Token, yes bool) {
	c.mu.Lock()
	held := slices.Clone(c.held)
	c.mu.Unlock()
	for _, h := range held {
		if h.has(token) {
			h.suspended(yes)
		}
	}
}

func (c *client) sessionName() string {
	c.mu.Lock()
	w := c.wire
	c.mu.Unlock()
	if w == nil {
		return ""
	}
	session, _, _ := w.credentials()
	return lock.SessionName(session)
}

// status is how the client stands, for the nemesis.
func (c *client) status() fault.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := fault.Client{
		Index: c.index, Process: c.process, Links: c.home.links, Together: c.home.indexes(),
		Waits: c.waiting, Enqueues: c.queuing, Holds: len(c.held) > 0 || c.inside, Releases: c.releasing,
		Lingers: slices.ContainsFunc(c.held, func(h *hold) bool { return h.lingers.Load() }),
	}
	if c.target != nil {
		out.Session, out.Password, out.Linked = c.wire.credentials()
	}
	return out
}

// busyIn reports whether the client holds, or waits for, a lock in a session.
func (c *client) busyIn(session int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.held) > 0 {
		return c.held[0].event.Session == lock.SessionName(session)
	}
	if !c.waiting && !c.inside {
		return false
	}
	now, _, _ := c.wire.credentials()
	return now == session
}

// ownerName names the owner that a process acquires for: itself.
func ownerName(process int) string { return fmt.Sprintf("p%d", process) }
