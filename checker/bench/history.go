package main

import (
	"iter"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// header returns the header of the drawn histories: one mutex that promises everything.
func header() histories.Header {
	return histories.Header{
		Version: histories.Version, Seed: seed, Recipe: "mutex", Target: "drawn", SessionTimeout: 2 * time.Second,
		Locks: map[string]histories.Lock{"lock-1": {Recipe: histories.Mutex}},
		Promises: histories.Promises{
			Tokens: true, TellsLoss: true, FIFO: true, Reentrant: true, LossBound: 3 * time.Second, ProgressBound: 10 * time.Second,
		},
	}
}

const (
	seed    = 1
	clients = 50
)

// shape describes a history to draw.
type shape struct {
	operations int
	unanswered int  // how many of the operations, spread over the history
	violated   bool // an intruder is granted the lock in the middle while it is held
}

// history draws acquires and releases of one lock for which all clients contend all the time,
// granted in the order of the queue, and an increment of the plain counter in one hold of ten.
// It yields the same Event each time, with new contents.
func history(s shape) iter.Seq[*histories.Event] {
	return func(yield func(*histories.Event) bool) {
		d := &drawer{shape: s, agenda: newAgenda(yield), left: s.operations}
		for c := range clients {
			d.clients = append(d.clients, client{
				process: c, owner: "client-" + strconv.Itoa(c), session: "0x" + strconv.FormatInt(0x1000000000000000+int64(c), 16),
			})
			d.after(time.Duration(c)*time.Microsecond, c, ask)
		}
		d.play()
	}
}

// drawer plays the clients. Each has one next step.
type drawer struct {
	shape
	agenda
	clients  []client
	left     int // operations that may still be invoked
	lost     int // operations that were not answered
	intruded bool
	zxid     int64 // of the last lock node
	queue    []int // clients, in the order of their places
	counter  int64
	e        histories.Event
}

type client struct {
	process        int
	owner, session string
	token          histories.Token
}

func (d *drawer) after(wait time.Duration, client int, do func(*drawer, int)) {
	d.agenda.after(wait, func() { do(d, client) })
}

func (d *drawer) event(c int, t histories.Type, op histories.Op) *histories.Event {
	d.e = histories.Event{Time: d.now, Type: t, Process: d.clients[c].process, Op: op, Lock: "lock-1", Owner: d.clients[c].owner}
	return &d.e
}

// invoke invokes an operation if one is left, and reports whether it did.
func (d *drawer) invoke(e *histories.Event) bool {
	if d.left == 0 {
		return false
	}
	d.left--
	d.emit(e)
	return true
}

// unheard reports whether the operation that c just invoked gets no answer. Its client then
// goes on as another process.
func (d *drawer) unheard(c int) bool {
	if d.lost == d.unanswered || (d.operations-d.left)*(d.unanswered+1) < (d.lost+1)*d.operations {
		return false
	}
	d.lost++
	d.clients[c].process += clients
	return true
}

func ask(d *drawer, c int) {
	if !d.invoke(d.event(c, histories.Invoke, histories.Acquire)) {
		return
	}
	if d.unheard(c) {
		d.after(d.soon(), c, ask)
		return
	}
	d.after(d.soon(), c, stand)
}

func stand(d *drawer, c int) {
	d.zxid++
	me := &d.clients[c]
	me.token = histories.Token{Zxid: d.zxid}
	e := d.event(c, histories.Enqueued, "")
	e.Session, e.Token, e.Position = me.session, me.token, len(d.queue)
	d.emit(e)
	if d.queue = append(d.queue, c); len(d.queue) == 1 {
		d.after(d.soon(), c, hold)
	}
}

func hold(d *drawer, c int) {
	me := d.clients[c]
	e := d.event(c, histories.OK, histories.Acquire)
	e.Session, e.Token, e.Depth = me.session, me.token, 1
	d.emit(e)
	if d.violated && !d.intruded && d.left < d.operations/2 {
		d.intrude(me.token)
	}
	if d.r.IntN(10) == 0 {
		d.after(d.soon(), c, read)
		return
	}
	d.after(d.soon(), c, leave)
}

// intrude grants the lock to another client for a moment, with a token between that of the
// holder and those of all waiters: only mutual exclusion is broken.
func (d *drawer) intrude(holders histories.Token) {
	d.intruded = true
	e := histories.Event{Time: d.now, Type: histories.Invoke, Process: 1000 * clients, Op: histories.Acquire, Lock: "lock-1", Owner: "intruder"}
	asked, got := e, e
	d.emit(&asked)
	got.Type, got.Token, got.Depth = histories.OK, histories.Token{Zxid: holders.Zxid, Sub: 1}, 1
	d.emit(&got)
	d.after(10*time.Microsecond, 0, func(d *drawer, _ int) {
		got.Time, got.Op = d.now, histories.Release
		asked, answered := got, got
		asked.Type = histories.Invoke
		d.emit(&asked)
		d.emit(&answered)
	})
}

func read(d *drawer, c int) {
	if !d.invoke(d.access(c, histories.Invoke, histories.Read, 0)) {
		return
	}
	d.after(d.soon(), c, func(d *drawer, c int) {
		d.emit(d.access(c, histories.OK, histories.Read, d.counter))
		d.after(d.soon(), c, write)
	})
}

func write(d *drawer, c int) {
	if !d.invoke(d.access(c, histories.Invoke, histories.Write, d.counter+1)) {
		return
	}
	d.after(d.soon(), c, func(d *drawer, c int) {
		d.counter++
		d.emit(d.access(c, histories.OK, histories.Write, d.counter))
		d.after(d.soon(), c, leave)
	})
}

func (d *drawer) access(c int, t histories.Type, op histories.Op, value int64) *histories.Event {
	e := d.event(c, t, op)
	e.Store, e.Token, e.Value = histories.StorePlain, d.clients[c].token, value
	return e
}

func leave(d *drawer, c int) {
	e := d.event(c, histories.Invoke, histories.Release)
	e.Token, e.Depth = d.clients[c].token, 1
	if !d.invoke(e) {
		return
	}
	if d.unheard(c) {
		d.after(d.soon(), c, gone)
		return
	}
	d.after(d.soon(), c, left)
}

func left(d *drawer, c int) {
	e := d.event(c, histories.OK, histories.Release)
	e.Token, e.Depth = d.clients[c].token, 1
	d.emit(e)
	gone(d, c)
}

// gone lets the next client have the lock.
func gone(d *drawer, c int) {
	if d.queue = d.queue[1:]; len(d.queue) > 0 {
		d.after(d.soon(), d.queue[0], hold)
	}
	d.after(d.soon(), c, ask)
}
