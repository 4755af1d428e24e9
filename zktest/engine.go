package zktest

import (
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble/model"
	"github.com/zkverify/zkverify/ensemble/model/cluster"
)

// engine lets the servers, and the links of their clients, do what is due. Its one
// goroutine runs from start to stop; it sleeps until something is due. The clock is
// that of whoever calls: real, or a bubble's.
//
// Its mutex is held for as long as a server needs to take in what has come, and never
// while something is waited for. The mutex of a conn is taken after it.
type engine struct {
	began time.Time     // the instant 0
	limit time.Duration // when the process ends; 0 for never
	kick  chan struct{} // capacity 1: something new may be due
	ended chan struct{} // closed by stop
	task  sync.WaitGroup

	mu      sync.Mutex // guards what follows, and links
	cluster *cluster.Cluster
	skew    time.Duration // how much more time has passed for the servers
	conns   map[model.ConnID]*conn
	waiters []*waiter
	stopped bool
}

// waiter waits for something to hold.
type waiter struct {
	holds func() bool
	done  chan struct{} // closed when it does
}

// newEngine starts servers and has them elect a leader, in no time at all.
func newEngine(c cluster.Config) (*engine, error) {
	e := &engine{kick: make(chan struct{}, 1), ended: make(chan struct{}), conns: map[model.ConnID]*conn{}}
	var err error
	if e.cluster, err = cluster.New(c, e); err != nil {
		return nil, err
	}
	for !e.allServe() {
		if e.cluster.Now() > electionLimit {
			return nil, fmt.Errorf("after %v not all servers serve: try another seed", e.cluster.Now())
		}
		e.cluster.Advance(e.cluster.Due())
	}
	return e, nil
}

// electionLimit is far longer than a healthy ensemble needs to elect its first leader.
const electionLimit = 10 * time.Minute

func (e *engine) allServe() bool {
	return !slices.ContainsFunc(e.cluster.IDs(), func(id int) bool { return e.cluster.Mode(id) == "" })
}

// start begins to follow the clock.
func (e *engine) start() {
	e.began = time.Now().Add(-e.cluster.Now())
	if e.limit > 0 {
		e.limit += e.cluster.Now()
	}
	e.task.Go(e.run)
}

func (e *engine) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-e.ended:
			return
		case <-timer.C:
		case <-e.kick:
		}
		e.mu.Lock()
		e.advance()
		wait := e.cluster.Due() - e.now()
		e.mu.Unlock()
		timer.Reset(wait)
	}
}

// stop ends every connection, and the goroutine.
func (e *engine) stop() {
	e.mu.Lock()
	e.stopped = true
	for _, id := range sorted(e.conns) {
		e.conns[id].end(errStopped)
	}
	clear(e.conns)
	close(e.ended)
	e.mu.Unlock()
	e.task.Wait()
}

// now is how much time has passed for the servers.
func (e *engine) now() time.Duration { return time.Since(e.began) + e.skew }

// advance lets happen what is due by now. e is locked.
func (e *engine) advance() {
	now := e.now()
	if e.limit > 0 && now-e.skew > e.limit {
		debug.SetTraceback("all")
		panic("zktest: the test has run for too long in its bubble (see zktest.Limit); what does it wait for?")
	}
	e.cluster.Advance(max(now, e.cluster.Now()))
	e.waiters = slices.DeleteFunc(e.waiters, func(w *waiter) bool {
		holds := w.holds()
		if holds {
			close(w.done)
		}
		return holds
	})
}

// do changes something, as of now. It reports false after stop.
func (e *engine) do(change func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return false
	}
	e.advance()
	change()
	select {
	case e.kick <- struct{}{}:
	default:
	}
	return true
}

// await waits until something holds, and reports false if it does not in time. What
// holds is called with e locked.
func (e *engine) await(limit time.Duration, holds func() bool) bool {
	w := &waiter{holds, make(chan struct{})}
	if !e.do(func() { e.waiters = append(e.waiters, w); e.advance() }) {
		return false
	}
	patience := time.NewTimer(limit)
	defer patience.Stop()
	select {
	case <-w.done:
		return true
	case <-patience.C:
	case <-e.ended:
	}
	e.do(func() {
		e.waiters = slices.DeleteFunc(e.waiters, func(other *waiter) bool { return other == w })
	})
	return false
}

// Reply implements cluster.Clients; e is locked.
func (e *engine) Reply(_ int, id model.ConnID, data []byte) {
	if c := e.conns[id]; c != nil {
		c.reply(slices.Clone(data))
	}
}

// Hangup implements cluster.Clients; e is locked.
func (e *engine) Hangup(_ int, id model.ConnID) {
	if c := e.conns[id]; c != nil {
		c.hangUp()
	}
}
