package drawn

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/zkverify/zkverify/histories"
)

// world is a service with some locks, the processes that use them, and the history of their
// actions, drawn event by event. Most of its grants are allowed, some are not. Its clock is so
// coarse that many events have the same time.
type world struct {
	draw    func(n int) int // a number below n
	h       *histories.History
	now     time.Duration
	locks   []string
	used    []string // the locks that are used at present
	clients []*client
	next    int64 // token
	faults  int
	pids    int
	up      map[string]bool // of barriers
	size    map[string]int  // of shared semaphores

	counters map[string]int64
	failed   map[string][]histories.Token // places of acquires of several locks that failed, by lock
}

// client is a process, and the processes that follow it when it is retired.
type client struct {
	process int
	owner   string
	open    *histories.Event // its invocation
	place   histories.Token
	places  map[string]histories.Token // of an acquire of several locks
	number  int                        // its place in a queue whose places have no tokens
	leases  []*lease
	forced  time.Duration // when its session was last forced to expire
}

type lease struct {
	event histories.Event // lock, parts, mode, permits, owner, token
	depth int
}

// History draws a history of locks of some recipes.
func History(t *rapid.T, recipes ...histories.Recipe) *histories.History {
	w := newWorld(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "") }, 1, recipes)
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		w.now += time.Duration(w.oneOf(3))
		w.step()
	}
	return w.h
}

// newWorld returns the world of a history of locks of some recipes, with two to four clients.
func newWorld(draw func(n int) int, unit time.Duration, recipes []histories.Recipe) *world {
	w := &world{draw: draw, up: map[string]bool{}, size: map[string]int{}, failed: map[string][]histories.Token{}, counters: map[string]int64{}, h: &histories.History{Header: histories.Header{
		Version: histories.Version, Locks: map[string]histories.Lock{}, SessionTimeout: 5 * unit,
		Promises: histories.Promises{Tokens: true, TellsLoss: true, FIFO: true, Reentrant: true, LossBound: 4 * unit, ProgressBound: 10 * unit, RevokeBound: 5 * unit},
	}}}
	for i, r := range recipes {
		lock := fmt.Sprintf("%s-%d", r, i)
		l := histories.Lock{Recipe: r}
		if r.HasPermits() || r == histories.DoubleBarrier || r == histories.Handoff {
			l.Size = 1 + w.oneOf(4)
		}
		w.h.Header.Locks[lock], w.size[lock] = l, l.Size
		w.locks = append(w.locks, lock)
	}
	w.used = w.locks
	for i := range 2 + w.oneOf(3) {
		w.clients = append(w.clients, &client{forced: -1 << 40})
		w.rename(w.clients[i])
	}
	return w
}

// step makes one of the processes act.
func (w *world) step() {
	if c := w.clients[w.oneOf(len(w.clients))]; c.open == nil {
		w.begins(c)
	} else {
		w.ends(c)
	}
}

// oneOf draws a number below n. Draws shrink to 0.
func (w *world) oneOf(n int) int { return w.draw(n) }

// oddly returns true once in n times.
func (w *world) oddly(n int) bool { return w.oneOf(n) == n-1 }

func (w *world) rename(c *client) {
	c.process, c.open, c.leases, c.place, c.places, c.number = w.pids, nil, nil, histories.Token{}, nil, 0
	w.pids++
	c.owner = ""
	if w.oddly(3) {
		c.owner = fmt.Sprint("o", w.oneOf(3)) // others may be the same owner
	}
}

func (w *world) record(c *client, typ histories.Type, e histories.Event) {
	e.Time, e.Type, e.Process = w.now, typ, -1
	if c != nil {
		e.Process = c.process
	}
	w.h.Events = append(w.h.Events, e)
}

func (w *world) invokes(c *client, e histories.Event) {
	c.open = &e
	w.record(c, histories.Invoke, e)
}

func (c *client) session() string { return fmt.Sprint("s", c.process) }

// begins makes an idle process start an operation.
func (w *world) begins(c *client) {
	lock := w.used[w.oneOf(len(w.used))]
	r := w.h.Header.Locks[lock].Recipe
	switch {
	case r == histories.Barrier:
		w.invokes(c, histories.Event{Lock: lock, Op: []histories.Op{histories.Wait, histories.Set, histories.Remove}[w.oneOf(3)]})
		return
	case r == histories.DoubleBarrier:
		w.invokes(c, histories.Event{Lock: lock, Op: []histories.Op{histories.Enter, histories.Leave}[w.oneOf(2)], Generation: 1 + w.oneOf(2)})
		return
	}
	switch what := w.oneOf(16); {
	case what < 8 && len(c.leases) > 0:
		w.releases(c)
	case what >= 9 && what < 12 && r == histories.SharedSemaphore:
		w.invokes(c, histories.Event{Lock: lock, Op: histories.SetSize, Size: 1 + w.oneOf(5)})
	case what < 12:
		w.asks(c, lock, r)
	case what < 14 && r.Guards() && len(c.leases) > 0:
		w.uses(c, c.leases[w.leaseOf(c)])
	case what < 14:
		w.loses(c)
	default:
		w.suffers(c)
	}
}

// leaseOf draws one of the leases of c, one of a lock that is used at present if there is one.
func (w *world) leaseOf(c *client) int {
	i := w.oneOf(len(c.leases))
	if len(w.used) == len(w.locks) {
		return i
	}
	for k := range c.leases {
		if at := (i + k) % len(c.leases); slices.Contains(w.used, locksOf(&c.leases[at].event)[0]) {
			return at
		}
	}
	return i
}

func (w *world) asks(c *client, lock string, r histories.Recipe) {
	e := histories.Event{Lock: lock, Op: histories.Acquire, Owner: c.owner}
	if w.oddly(4) {
		e.Op = histories.TryAcquire
	}
	switch {
	case r == histories.ReadWrite:
		e.Mode = []histories.Mode{histories.ModeRead, histories.ModeWrite}[w.oneOf(2)]
	case r.HasPermits():
		e.Permits = 1 + w.oneOf(3)
	case r == histories.MultiLock && w.oddly(2):
		e.Lock = ""
		for _, l := range w.locks {
			if w.h.Header.Locks[l].Recipe == r {
				e.Parts = append(e.Parts, histories.Part{Lock: l})
			}
		}
	}
	w.invokes(c, e)
}

func (w *world) releases(c *client) {
	i := w.leaseOf(c)
	l := c.leases[i]
	e := l.event
	e.Op, e.Depth = histories.Release, l.depth
	if l.depth > 1 && !w.oddly(6) { // or it releases all depths at once
		l.depth--
	} else {
		e.Depth = 1
		c.leases = slices.Delete(c.leases, i, i+1)
	}
	w.invokes(c, e)
}

// uses makes a holder read or write a counter, or asks it to release.
func (w *world) uses(c *client, l *lease) {
	lock := locksOf(&l.event)[0]
	if w.h.Header.Locks[lock].Recipe == histories.Revocation && w.oddly(2) {
		if w.oneOf(2) == 0 {
			w.invokes(c, histories.Event{Lock: lock, Op: histories.Revoke, Token: histories.Token{Zxid: 1 + int64(w.oneOf(int(w.next)+1))}})
		} else if l.event.Token != (histories.Token{}) {
			w.record(c, histories.RevokeRequested, histories.Event{Lock: lock, Token: l.event.Token})
		}
		return
	}
	if !w.guarded(lock) {
		return
	}
	e := histories.Event{Lock: lock, Op: histories.Read, Store: []string{histories.StorePlain, histories.StoreFenced}[w.oneOf(2)], Owner: l.event.Owner, Mode: l.event.Mode}
	k := lock + e.Store
	if e.Value = w.counters[k]; w.oneOf(2) == 0 {
		e.Op = histories.Write
		e.Value++
		if w.oddly(6) {
			e.Value++
		}
		w.counters[k] = e.Value
	}
	w.invokes(c, e)
}

func (w *world) guarded(lock string) bool { return w.h.Header.Locks[lock].Recipe.Guards() }

// loses tells a holder of a loss. A process without a lease is told nothing.
func (w *world) loses(c *client) {
	if len(c.leases) == 0 {
		return
	}
	i := w.leaseOf(c)
	e := c.leases[i].event
	e.Permits = 0
	if !w.h.Header.RecipeOf(locksOf(&e)[0]).HasPermits() {
		e.Owner = c.owner
	}
	w.record(c, histories.Lost, e)
	c.leases = slices.Delete(c.leases, i, i+1)
}

// suffers makes a process crash, or its session end.
func (w *world) suffers(c *client) {
	switch w.oneOf(4) {
	case 0:
		w.faults++
		f := &histories.Fault{ID: w.faults, Name: histories.ForcedExpiry, Processes: []int{c.process}}
		w.record(nil, histories.FaultStart, histories.Event{Fault: f})
		w.record(nil, histories.FaultStop, histories.Event{Fault: f})
		c.forced = w.now
	case 1:
		w.record(c, histories.Expired, histories.Event{Session: c.session()})
	case 2:
		w.record(c, histories.Crash, histories.Event{})
		w.rename(c)
	}
}
