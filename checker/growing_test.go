package checker

import (
	"fmt"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// dimension is a way in which a history grows.
type dimension struct {
	name  string
	locks map[string]histories.Lock
	grow  func(g *grower, n int)
	bytes func(n int) int // the length of such a history; nil: by its number of events
	fixed bool            // windows stay short, however much they show again
}

// grower writes a history.
type grower struct {
	h    *histories.History
	n    int // events are a millisecond apart
	zxid int64
	open map[int]histories.Event
}

// grown returns the history of a dimension at size n.
func grown(d dimension, n int) *histories.History {
	g := &grower{h: &histories.History{Header: histories.Header{
		Version: 4, Recipe: "all", Target: "recipes", Ensemble: "local", Servers: 3, SessionTimeout: 2 * time.Second, TickTime: 200 * time.Millisecond,
		Promises: histories.Promises{
			Tokens: true, Guards: true, TellsLoss: true, FIFO: true, Reentrant: true, Says: true,
			LossBound: 2 * time.Second, ProgressBound: 8 * time.Second, TurnBound: time.Second, RevokeBound: time.Second,
		},
		Locks: d.locks,
	}}, open: map[int]histories.Event{}}
	d.grow(g, n)
	return g.h
}

func (g *grower) add(e histories.Event) {
	g.n++
	e.Time = time.Duration(g.n) * time.Millisecond
	g.h.Events = append(g.h.Events, e)
}

// ask invokes an operation.
func (g *grower) ask(process int, e histories.Event) {
	e.Type, e.Process = histories.Invoke, process
	if e.Lock != "" {
		switch l := g.h.Header.Locks[e.Lock]; {
		case l.Recipe.HasPermits() && e.Permits == 0 && (e.Op == histories.Acquire || e.Op == histories.TryAcquire || e.Op == histories.Release):
			e.Permits = 1
		case l.Recipe == histories.ReadWrite && e.Mode == "":
			e.Mode = histories.ModeWrite
		}
	}
	if e.Session == "" {
		e.Session = sessionOf(process)
	}
	g.open[process] = e
	g.add(e)
}

// answer completes the operation of a process.
func (g *grower) answer(process int, typ histories.Type, edit func(e *histories.Event)) {
	e := g.open[process]
	delete(g.open, process)
	e.Type = typ
	if edit != nil {
		edit(&e)
	}
	g.add(e)
}

func sessionOf(process int) string { return fmt.Sprintf("0x%016x", process+1) }

// enqueue reports the place of a process in the queue that it stands in.
func (g *grower) enqueue(process int) histories.Token {
	g.zxid++
	e := g.open[process]
	token := histories.Token{Zxid: g.zxid}
	g.add(histories.Event{Type: histories.Enqueued, Process: process, Lock: e.Lock, Mode: e.Mode, Owner: e.Owner, Token: token, Sequence: int(g.zxid), Session: e.Session})
	return token
}

// grant answers an acquire.
func (g *grower) grant(process int, token histories.Token) {
	g.answer(process, histories.OK, func(e *histories.Event) { e.Token, e.Depth = token, 1 })
}

// newToken returns a token that no lease has.
func (g *grower) newToken() histories.Token {
	g.zxid++
	return histories.Token{Zxid: g.zxid}
}

func (g *grower) acquire(process int, lock string) histories.Token {
	g.ask(process, histories.Event{Op: histories.Acquire, Lock: lock})
	token := g.enqueue(process)
	g.grant(process, token)
	return token
}

func (g *grower) release(process int, lock string, token histories.Token) {
	g.ask(process, histories.Event{Op: histories.Release, Lock: lock, Token: token, Depth: 1})
	g.answer(process, histories.OK, nil)
}

// do invokes an operation and completes it.
func (g *grower) do(process int, e histories.Event) {
	g.ask(process, e)
	g.answer(process, histories.OK, nil)
}

func (g *grower) fault(id int, name string, processes []int, params map[string]string, stop bool) {
	typ := histories.FaultStart
	if stop {
		typ = histories.FaultStop
	}
	g.add(histories.Event{Type: typ, Process: -1, Fault: &histories.Fault{ID: id, Name: name, Processes: processes, Params: params}})
}

// one returns a lock of a recipe, with some more locks of it.
func one(r histories.Recipe) map[string]histories.Lock {
	l := histories.Lock{Recipe: r}
	if r.HasPermits() || r == histories.DoubleBarrier || r == histories.Handoff {
		l.Size = 3
	}
	return map[string]histories.Lock{"l": l}
}

func ofRecipe(name string, r histories.Recipe, grow func(g *grower, n int)) dimension {
	return dimension{name: string(r) + "/" + name, locks: one(r), grow: grow}
}

// growing holds the dimensions, each for all recipes that have it.
var growing = func() (all [][]dimension) {
	for _, r := range []histories.Recipe{histories.Mutex, histories.NonReentrant, histories.ReadWrite, histories.Semaphore, histories.Revocation} {
		for i, d := range ofLocks(r) {
			if i == len(all) {
				all = append(all, nil)
			}
			all[i] = append(all[i], d)
		}
	}
	for _, d := range ofSome() {
		all = append(all, []dimension{d})
	}
	return all
}()

// ofLocks returns the dimensions in which histories of any lock grow.
func ofLocks(r histories.Recipe) []dimension {
	var all []dimension
	all = append(all, dimension{name: string(r) + "/locks", grow: func(g *grower, n int) {
		g.h.Header.Locks = map[string]histories.Lock{}
		for i := range n {
			lock := strconv.Itoa(i)
			g.h.Header.Locks[lock] = one(r)["l"]
			g.acquire(7, lock)
		}
	}}, dimension{name: string(r) + "/locks, one after the other", grow: func(g *grower, n int) {
		g.h.Header.Locks = map[string]histories.Lock{}
		for i := range n {
			lock := strconv.Itoa(i)
			g.h.Header.Locks[lock] = one(r)["l"]
			g.release(7, lock, g.acquire(7, lock))
		}
	}}, dimension{name: string(r) + "/locks that are idle in many windows", fixed: true, grow: func(g *grower, n int) {
		g.h.Header.Locks = map[string]histories.Lock{"l": one(r)["l"]}
		for i := range n {
			lock := strconv.Itoa(i)
			g.h.Header.Locks[lock] = one(r)["l"]
			g.release(7, lock, g.acquire(7, lock))
		}
		for i := range n / 2 { // few: lists are cleared when they have a thousand entries
			g.release(i%5, "l", g.acquire(i%5, "l"))
		}
	}})
	for _, some := range []func(histories.Recipe, func(string, func(*grower, int))){comeAndGo, wait, comeMeanwhile, holdMuch, meetFaults, standStill, say, areTold, write} {
		some(r, func(name string, grow func(g *grower, n int)) { all = append(all, ofRecipe(name, r, grow)) })
	}
	return all
}

// readMode and writeMode return the mode in which a lock of a recipe is asked for.
func readMode(r histories.Recipe) histories.Mode {
	if r == histories.ReadWrite {
		return histories.ModeRead
	}
	return ""
}

func writeMode(r histories.Recipe) histories.Mode {
	if r == histories.ReadWrite {
		return histories.ModeWrite
	}
	return ""
}

// says records an answer of a lease of the lock, or of the lock.
func (g *grower) says(process int, token histories.Token, s histories.Saying) {
	s.Asked = time.Duration(g.n) * time.Millisecond
	g.add(histories.Event{
		Type: histories.Says, Process: process, Lock: "l", Mode: writeMode(g.h.Header.Locks["l"].Recipe), Token: token, Session: sessionOf(process), Depth: 1, Saying: &s,
	})
}
