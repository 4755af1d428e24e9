package checker

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/zkverify/zkverify/histories"
)

// world is a service with some locks, the processes that use them, and what is on
// record of them: a whole history, drawn event by event. Most of what it grants
// it may grant, some it may not. Its clock is so coarse that many events touch.
type world struct {
	t       *rapid.T
	h       *histories.History
	now     time.Duration
	locks   []string
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
	number  int                        // its place in a queue whose places are no tokens
	leases  []*lease
	forced  time.Duration // when its session was last ended from the side
}

type lease struct {
	event histories.Event // lock, parts, mode, permits, owner, token
	depth int
}

// drawHistory draws a history of locks of some recipes.
func drawHistory(t *rapid.T, recipes ...histories.Recipe) *histories.History {
	w := &world{t: t, up: map[string]bool{}, size: map[string]int{}, failed: map[string][]histories.Token{}, counters: map[string]int64{}, h: &histories.History{Header: histories.Header{
		Version: histories.Version, Locks: map[string]histories.Lock{}, SessionTimeout: 5,
		Promises: histories.Promises{Tokens: true, TellsLoss: true, FIFO: true, Reentrant: true, LossBound: 4, ProgressBound: 10, RevokeBound: 5},
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
	for i := range 2 + w.oneOf(3) {
		w.clients = append(w.clients, &client{forced: -1 << 40})
		w.rename(w.clients[i])
	}
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		w.now += time.Duration(w.oneOf(3))
		if c := w.clients[w.oneOf(len(w.clients))]; c.open == nil {
			w.begins(c)
		} else {
			w.ends(c)
		}
	}
	return w.h
}

// oneOf draws a number below n; what is drawn shrinks to 0.
func (w *world) oneOf(n int) int { return rapid.IntRange(0, n-1).Draw(w.t, "") }

// oddly is true once in n times.
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

// begins has an idle process do something.
func (w *world) begins(c *client) {
	lock := w.locks[w.oneOf(len(w.locks))]
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
	case what < 14 && (r.Exclusive() || r == histories.ReadWrite) && len(c.leases) > 0:
		w.uses(c, c.leases[w.oneOf(len(c.leases))])
	case what < 14:
		w.loses(c)
	default:
		w.suffers(c)
	}
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
	i := w.oneOf(len(c.leases))
	l := c.leases[i]
	e := l.event
	e.Op, e.Depth = histories.Release, l.depth
	if l.depth > 1 && !w.oddly(6) { // or gives up all at once
		l.depth--
	} else {
		e.Depth = 1
		c.leases = slices.Delete(c.leases, i, i+1)
	}
	w.invokes(c, e)
}

// uses has a holder read or write a counter, or asks it to release.
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

// loses tells a holder of a loss, or nobody.
func (w *world) loses(c *client) {
	if len(c.leases) == 0 {
		return
	}
	i := w.oneOf(len(c.leases))
	e := c.leases[i].event
	e.Permits = 0
	if !w.h.Header.RecipeOf(locksOf(&e)[0]).HasPermits() {
		e.Owner = c.owner
	}
	w.record(c, histories.Lost, e)
	c.leases = slices.Delete(c.leases, i, i+1)
}

// suffers has a process crash, or its session end.
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

// ends has a process whose operation is open go on with it.
func (w *world) ends(c *client) {
	e := *c.open
	what := w.oneOf(16)
	switch {
	case what == 15:
		w.record(c, histories.Info, e)
		w.rename(c)
		return
	case what == 14:
		w.suffers(c)
		return
	case what == 13 || e.Op == histories.TryAcquire && !w.may(c, &e):
		w.record(c, histories.Fail, e)
		for lock, place := range c.places {
			w.failed[lock] = append(w.failed[lock], place)
		}
		c.open, c.place, c.places, c.number = nil, histories.Token{}, nil, 0
		return
	}
	asks := e.Op == histories.Acquire || e.Op == histories.TryAcquire
	if asks && c.number == 0 && e.Lock != "" && w.numbers(e.Lock) && !w.oddly(3) {
		w.next++
		c.number = int(w.next) // in a queue whose places are not the tokens
		w.record(c, histories.Enqueued, histories.Event{Lock: e.Lock, Sequence: c.number, Session: c.session()})
		return
	}
	if asks && c.place == (histories.Token{}) && e.Lock != "" && !w.numbers(e.Lock) && w.h.Header.Locks[e.Lock].Recipe.Exclusive() && !w.oddly(3) {
		c.place = w.token()
		w.record(c, histories.Enqueued, histories.Event{Lock: e.Lock, Token: c.place, Session: c.session()})
		return
	}
	if asks && e.Parts != nil && len(c.places) < len(e.Parts) && !w.oddly(4) {
		// It takes its places in any order: others may stand between them.
		for _, i := range []int{0, len(e.Parts) - 1} {
			if i = (i + w.oneOf(2)) % len(e.Parts); c.places[e.Parts[i].Lock] == (histories.Token{}) {
				w.takes(c, e.Parts[i].Lock)
				return
			}
		}
	}
	if !w.may(c, &e) && !w.oddly(6) {
		return // it waits
	}
	switch {
	case asks:
		w.grants(c, &e)
	case e.Op == histories.SetSize:
		w.size[e.Lock] = e.Size
	case e.Op == histories.Set, e.Op == histories.Remove:
		w.up[e.Lock] = e.Op == histories.Set
	}
	w.record(c, histories.OK, e)
	c.open, c.place, c.places, c.number = nil, histories.Token{}, nil, 0
}

// numbers reports whether the places of a lock have numbers of their own.
func (w *world) numbers(lock string) bool {
	r := w.h.Header.Locks[lock].Recipe
	return r.HasPermits() || r == histories.NonReentrant
}

// takes gives c, which asks for several locks, its place in the queue of one.
func (w *world) takes(c *client, lock string) {
	if c.places == nil {
		c.places = map[string]histories.Token{}
	}
	c.places[lock] = w.token()
	w.record(c, histories.Enqueued, histories.Event{Lock: lock, Token: c.places[lock], Session: c.session()})
}

func (w *world) token() histories.Token {
	w.next++
	return histories.Token{Zxid: w.next}
}

// grants completes e, an acquire.
func (w *world) grants(c *client, e *histories.Event) {
	e.Session, e.Depth, e.Token = c.session(), 1, c.place
	if e.Token == (histories.Token{}) && e.Parts == nil && !w.oddly(8) {
		e.Token = w.token()
	}
	e.Parts = slices.Clone(e.Parts)
	for i := range e.Parts {
		lock := e.Parts[i].Lock
		e.Parts[i].Token = c.places[lock]
		if all := w.failed[lock]; len(all) > 0 && w.oddly(4) {
			e.Parts[i].Token = all[w.oneOf(len(all))]
		} else if e.Parts[i].Token == (histories.Token{}) {
			e.Parts[i].Token = w.token()
		}
	}
	r := w.h.Header.RecipeOf(locksOf(e)[0])
	for _, l := range c.leases {
		if !r.HasPermits() && slices.Equal(locksOf(&l.event), locksOf(e)) && l.event.Mode == e.Mode {
			l.depth++
			e.Depth, e.Token = l.depth, l.event.Token
			return
		}
	}
	l := &lease{*e, 1}
	l.event.Depth = 0
	c.leases = append(c.leases, l)
}

// may reports whether what c asks for may be granted now, as far as the world
// knows.
func (w *world) may(c *client, e *histories.Event) bool {
	switch e.Op {
	case histories.Wait:
		return !w.up[e.Lock]
	case histories.Acquire, histories.TryAcquire:
	default:
		return true
	}
	for _, lock := range locksOf(e) {
		r := w.h.Header.Locks[lock].Recipe
		sum := e.Permits
		for _, other := range w.clients {
			if c.place != (histories.Token{}) && other != c && other.open != nil && other.open.Lock == lock &&
				other.place != (histories.Token{}) && other.place.Less(c.place) {
				return false
			}
			if w.now <= other.forced+w.h.Header.Promises.LossBound {
				continue // excused
			}
			for _, l := range other.leases {
				if !slices.Contains(locksOf(&l.event), lock) {
					continue
				}
				sum += l.event.Permits
				apart := other != c && (e.Mode != histories.ModeRead || l.event.Mode != histories.ModeRead)
				if !r.HasPermits() && apart {
					return false
				}
			}
		}
		if r.HasPermits() && sum > w.size[lock] {
			return false
		}
	}
	return true
}
