package main

import (
	"iter"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// mixedHeader returns the header of a history in which every recipe is used.
func mixedHeader() histories.Header {
	h := header()
	h.Recipe = "all"
	h.Promises.RevokeBound = time.Second
	h.Locks = map[string]histories.Lock{
		"mutex": {Recipe: histories.Mutex}, "nonreentrant": {Recipe: histories.NonReentrant}, "readwrite": {Recipe: histories.ReadWrite},
		"multi-a": {Recipe: histories.MultiLock}, "multi-b": {Recipe: histories.MultiLock}, "revocable": {Recipe: histories.Revocation},
		"semaphore": {Recipe: histories.Semaphore, Size: 6}, "shared": {Recipe: histories.SharedSemaphore, Size: 6},
		"barrier": {Recipe: histories.Barrier}, "double": {Recipe: histories.DoubleBarrier, Size: members},
	}
	return h
}

// members is the number of members of a round of the double barrier.
const members = 4

// mixed draws clients that each use one recipe after the other: locks granted in the order of
// their queues, a semaphore whose size changes, requests to release, a barrier that goes up and
// down, and rounds of a double barrier.
func mixed(operations int) iter.Seq[*histories.Event] {
	return func(yield func(*histories.Event) bool) {
		m := &mixer{agenda: newAgenda(yield), left: operations, queues: map[string]*queue{}}
		for name, l := range mixedHeader().Locks {
			if l.Recipe.IsLock() {
				m.queues[name] = &queue{name: name, size: max(l.Size, 1)}
			}
		}
		m.queues["readwrite"].size = clients // a writer takes all
		for c := range clients {
			m.after(time.Duration(c)*time.Microsecond, func() { m.next(c) })
		}
		m.play()
	}
}

// mixer plays the clients.
type mixer struct {
	agenda
	left   int // operations that may still be invoked
	zxid   int64
	queues map[string]*queue

	resizing bool
	up, busy bool     // the barrier is up; a client sets or removes it
	waiting  []func() // waits for the barrier to go down
	gathered []int    // members of the current round, or of the next one
	on       bool
	round    int
}

// queue is a lock, or a semaphore of some size, with its waiters.
type queue struct {
	name       string
	size, held int
	waiting    []*claim
	sequence   int
	holder     *claim // the last that was granted
}

// claim is one client's acquire, and then its lease.
type claim struct {
	client, weight int
	e              histories.Event
	held           bool
}

// emit records an event of a client; invoke does so if an operation is left.
func (m *mixer) emit(client int, typ histories.Type, e histories.Event) {
	e.Time, e.Type, e.Process = m.now, typ, client
	m.agenda.emit(&e)
}

func (m *mixer) invoke(client int, e histories.Event) bool {
	if m.left == 0 {
		return false
	}
	m.left--
	m.emit(client, histories.Invoke, e)
	return true
}

// next makes a client do one thing.
func (m *mixer) next(c int) {
	switch n := m.r.IntN(20); {
	case n < 3:
		m.acquire(c, "mutex", 1, histories.Event{Lock: "mutex"})
	case n < 5:
		m.acquire(c, "nonreentrant", 1, histories.Event{Lock: "nonreentrant"})
	case n < 7:
		m.acquire(c, "multi-a", 1, histories.Event{Parts: []histories.Part{{Lock: "multi-a"}, {Lock: "multi-b"}}})
	case n < 9:
		if n == 7 {
			m.acquire(c, "readwrite", clients, histories.Event{Lock: "readwrite", Mode: histories.ModeWrite})
		} else {
			m.acquire(c, "readwrite", 1, histories.Event{Lock: "readwrite", Mode: histories.ModeRead})
		}
	case n < 11:
		weight := 1 + m.r.IntN(2)
		m.acquire(c, "semaphore", weight, histories.Event{Lock: "semaphore", Permits: weight})
	case n < 13:
		if m.r.IntN(20) == 0 && !m.resizing {
			m.resize(c)
			return
		}
		weight := 1 + m.r.IntN(2)
		m.acquire(c, "shared", weight, histories.Event{Lock: "shared", Permits: weight})
	case n < 15:
		if h := m.queues["revocable"].holder; h != nil && h.held && h.client != c && m.r.IntN(2) == 0 {
			m.revoke(c, h)
			return
		}
		m.acquire(c, "revocable", 1, histories.Event{Lock: "revocable"})
	case n < 17:
		m.barrier(c)
	default:
		m.gather(c)
	}
}

func (m *mixer) again(c int) { m.after(m.soon(), func() { m.next(c) }) }

// acquire takes a lock when it is the client's turn, holds it for a while and releases it.
func (m *mixer) acquire(c int, lock string, weight int, e histories.Event) {
	e.Op, e.Owner = histories.Acquire, "client-"+strconv.Itoa(c)
	if !m.invoke(c, e) {
		return
	}
	m.after(m.soon(), func() {
		q := m.queues[lock]
		e.Session, e.Token = "0x"+strconv.Itoa(c), m.token()
		locks := []string{e.Lock}
		for i := range e.Parts {
			e.Parts[i].Token = histories.Token{Zxid: e.Token.Zxid, Sub: int32(i + 1)}
		}
		if e.Parts != nil {
			e.Token, locks = histories.Token{}, []string{"multi-a", "multi-b"}
		}
		for i, l := range locks {
			place := histories.Event{Lock: l, Session: e.Session, Token: e.Token}
			if e.Parts != nil {
				place.Token = e.Parts[i].Token
			}
			if e.Permits > 0 {
				q.sequence++
				place.Token, place.Sequence = histories.Token{}, q.sequence
			}
			m.emit(c, histories.Enqueued, place)
		}
		q.waiting = append(q.waiting, &claim{client: c, weight: weight, e: e})
		m.grant(q)
	})
}

func (m *mixer) token() histories.Token {
	m.zxid++
	return histories.Token{Zxid: m.zxid}
}

func (m *mixer) grant(q *queue) {
	for len(q.waiting) > 0 && q.held+q.waiting[0].weight <= q.size {
		k := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.held += k.weight
		if k.e.Permits > 0 {
			k.e.Token = m.token() // it is granted when its turn comes
		}
		m.after(m.soon(), func() {
			k.e.Depth, k.held, q.holder = 1, true, k
			m.emit(k.client, histories.OK, k.e)
			m.after(m.soon(), func() { m.release(q, k) })
		})
	}
}

func (m *mixer) release(q *queue, k *claim) {
	e := k.e
	e.Op, k.held = histories.Release, false
	if !m.invoke(k.client, e) {
		return
	}
	m.after(m.soon(), func() {
		m.emit(k.client, histories.OK, e)
		q.held -= k.weight
		m.grant(q)
		m.again(k.client)
	})
}

func (m *mixer) resize(c int) {
	e := histories.Event{Op: histories.SetSize, Lock: "shared", Size: 3 + m.r.IntN(5)}
	if !m.invoke(c, e) {
		return
	}
	m.resizing = true
	m.after(m.soon(), func() {
		q := m.queues["shared"]
		q.size = e.Size
		m.after(m.soon(), func() {
			m.emit(c, histories.OK, e)
			m.resizing = false
			m.grant(q)
			m.again(c)
		})
	})
}

// revoke asks the holder k to release.
func (m *mixer) revoke(c int, k *claim) {
	e := histories.Event{Op: histories.Revoke, Lock: "revocable", Token: k.e.Token}
	if !m.invoke(c, e) {
		return
	}
	m.after(m.soon(), func() {
		m.emit(k.client, histories.RevokeRequested, histories.Event{Lock: "revocable", Token: k.e.Token, Session: k.e.Session})
	})
	m.after(m.soon(), func() {
		m.emit(c, histories.OK, e)
		m.again(c)
	})
}

// barrier sets the barrier, removes it or waits at it.
func (m *mixer) barrier(c int) {
	if m.busy || m.r.IntN(2) == 0 {
		e := histories.Event{Op: histories.Wait, Lock: "barrier"}
		if !m.invoke(c, e) {
			return
		}
		pass := func() {
			m.after(m.soon(), func() {
				m.emit(c, histories.OK, e)
				m.again(c)
			})
		}
		if m.up {
			m.waiting = append(m.waiting, pass)
		} else {
			pass()
		}
		return
	}
	e := histories.Event{Op: histories.Set, Lock: "barrier"}
	if m.up {
		e.Op = histories.Remove
	}
	if !m.invoke(c, e) {
		return
	}
	m.busy = true
	m.after(m.soon(), func() {
		if m.up = !m.up; !m.up {
			for _, pass := range m.waiting {
				pass()
			}
			m.waiting = nil
		}
		m.after(m.soon(), func() {
			m.emit(c, histories.OK, e)
			m.busy = false
			m.again(c)
		})
	})
}

// gather waits until enough members are there for a round. During a round, other clients do
// something else.
func (m *mixer) gather(c int) {
	if m.on {
		m.again(c)
		return
	}
	if m.gathered = append(m.gathered, c); len(m.gathered) < members {
		return
	}
	m.round++
	m.on = true
	m.together(histories.Enter, func() {
		m.together(histories.Leave, func() {
			all := m.gathered
			m.gathered, m.on = nil, false
			for _, c := range all {
				m.again(c)
			}
		})
	})
}

// together makes all members of a round enter or leave, each by itself, and calls then when all
// have.
func (m *mixer) together(op histories.Op, then func()) {
	come, gone := 0, 0
	for _, c := range m.gathered {
		e := histories.Event{Op: op, Lock: "double", Generation: m.round, Session: "0x" + strconv.Itoa(c)}
		m.after(m.soon(), func() {
			if !m.invoke(c, e) {
				return
			}
			if come++; come < members {
				return
			}
			for _, c := range m.gathered {
				e := e
				e.Session = "0x" + strconv.Itoa(c)
				m.after(m.soon(), func() {
					m.emit(c, histories.OK, e)
					if gone++; gone == members {
						then()
					}
				})
			}
		})
	}
}
