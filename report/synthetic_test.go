package report_test

import (
	"container/heap"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// synthetic draws a run of clients that contend for five mutexes, with places in
// the queue, counters, and a fault on one of them every other second: it
// suspends a lease, and now and then the lease is lost with its session. In the middle of
// the run one lock is granted to two clients.
type synthetic struct {
	clients int
	length  time.Duration
	rest    time.Duration // mean time between two cycles of a client

	rand    *rand.Rand
	now     time.Duration
	next    steps
	yield   func(*histories.Event, error) bool
	stopped bool
	zxid    int64
	holder  [5]int // 1 + the process, 0: none
	queue   [5][]place
	session []int           // the number of sessions of each client so far
	hold    []time.Duration // until when a fault keeps a client from releasing
	broken  bool
	counter [2][5]int64 // plain, fenced; of each lock
}

type place struct {
	client int
	token  histories.Token
}

type step struct {
	at time.Duration
	do func()
}

type steps []step

func (s steps) Len() int           { return len(s) }
func (s steps) Less(i, j int) bool { return s[i].at < s[j].at }
func (s steps) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *steps) Push(x any)        { *s = append(*s, x.(step)) }
func (s *steps) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}

func (s *synthetic) header() histories.Header {
	h := histories.Header{
		Version: histories.Version, Started: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), Seed: 7, Recipe: "mutex", Target: "synthetic",
		Promises: histories.Promises{Tokens: true, TellsLoss: true, FIFO: true, Reentrant: true, LossBound: 2 * time.Second, ProgressBound: time.Minute},
		Locks:    map[string]histories.Lock{}, Options: map[string]string{"clients": fmt.Sprint(s.clients), "duration": s.length.String(), "target": "synthetic"},
		Ensemble: "local", Servers: 3, ZooKeeper: "3.8.0", SessionTimeout: 2 * time.Second, TickTime: 200 * time.Millisecond,
	}
	for i := range s.holder {
		h.Locks[fmt.Sprintf("lock-%d", i)] = histories.Lock{Recipe: histories.Mutex}
	}
	return h
}

// events draws the run, the same each time.
func (s synthetic) events() iter.Seq2[*histories.Event, error] {
	return func(yield func(*histories.Event, error) bool) {
		s := s
		s.rand, s.yield = rand.New(rand.NewPCG(1, 2)), yield
		s.session, s.hold = make([]int, s.clients), make([]time.Duration, s.clients)
		s.emit(histories.Event{Type: histories.PhaseStart, Process: -1, Phase: histories.PhaseChaos})
		for c := range s.clients {
			s.after(s.exp(s.rest), func() { s.cycle(c) })
		}
		s.after(time.Second, func() { s.fault(1) })
		s.after(s.length*9/10, func() {
			s.emit(histories.Event{Type: histories.PhaseStart, Process: -1, Phase: histories.PhaseRecovery})
		})
		for len(s.next) > 0 && !s.stopped {
			st := heap.Pop(&s.next).(step)
			if st.at > s.length {
				break
			}
			s.now = st.at
			st.do()
		}
	}
}

func (s *synthetic) exp(mean time.Duration) time.Duration {
	return time.Duration(s.rand.ExpFloat64() * float64(mean))
}

func (s *synthetic) after(d time.Duration, do func()) {
	heap.Push(&s.next, step{s.now + d, do})
}

func (s *synthetic) emit(e histories.Event) {
	e.Time = s.now
	if !s.stopped && !s.yield(&e, nil) {
		s.stopped = true
	}
}

func (s *synthetic) event(c int, t histories.Type, op histories.Op, lock int) histories.Event {
	return histories.Event{Type: t, Op: op, Process: c, Lock: fmt.Sprintf("lock-%d", lock), Owner: fmt.Sprintf("p%d", c), Session: fmt.Sprintf("0x%016x", s.session[c]<<8|c)}
}

func (s *synthetic) cycle(c int) {
	lock := s.rand.IntN(len(s.holder))
	s.emit(s.event(c, histories.Invoke, histories.Acquire, lock))
	s.after(time.Millisecond+s.exp(2*time.Millisecond), func() {
		e := s.event(c, histories.Enqueued, histories.Acquire, lock)
		s.zxid++
		e.Token, e.Position = histories.Token{Zxid: 1<<32 + s.zxid}, len(s.queue[lock])
		s.emit(e)
		s.queue[lock] = append(s.queue[lock], place{c, e.Token})
		s.after(time.Millisecond, func() { s.grant(lock) })
	})
}

// grant grants a free lock to the first client in its queue, and once in a run a lock that is held.
func (s *synthetic) grant(lock int) {
	twice := !s.broken && s.now > s.length/2 && s.holder[lock] != 0
	if len(s.queue[lock]) == 0 || s.holder[lock] != 0 && !twice {
		return
	}
	s.broken = s.broken || twice
	first := s.queue[lock][0]
	s.queue[lock] = s.queue[lock][1:]
	s.held(first.client, lock, first.token)
}

func (s *synthetic) held(c, lock int, token histories.Token) {
	s.holder[lock] = c + 1
	e := s.event(c, histories.OK, histories.Acquire, lock)
	e.Token, e.Depth = token, 1
	s.emit(e)
	for i, store := range []string{histories.StorePlain, histories.StoreFenced} {
		for j, op := range []histories.Op{histories.Read, histories.Write} {
			at := time.Duration(2*i+j+1) * 20 * time.Microsecond
			s.after(at, func() {
				e := s.event(c, histories.Invoke, op, lock)
				s.counter[i][lock] += int64(j)
				e.Store, e.Token, e.Value = store, token, s.counter[i][lock]*int64(j)
				s.emit(e)
			})
			s.after(at+5*time.Microsecond, func() {
				e := s.event(c, histories.OK, op, lock)
				e.Store, e.Token, e.Value = store, token, s.counter[i][lock]
				s.emit(e)
			})
		}
	}
	s.after(200*time.Microsecond+s.exp(2*time.Millisecond), func() { s.release(c, lock, token, false) })
}

func (s *synthetic) release(c, lock int, token histories.Token, suspended bool) {
	e := s.event(c, histories.Suspended, "", lock)
	e.Token = token
	if until := s.hold[c]; until > s.now {
		if !suspended {
			s.emit(e)
		}
		s.after(until-s.now, func() { s.release(c, lock, token, true) })
		return
	}
	if suspended && s.rand.IntN(3) == 0 {
		e.Type = histories.Lost
		s.emit(e)
		s.emit(histories.Event{Type: histories.Expired, Process: -1, Session: e.Session})
		s.session[c]++
	} else if suspended {
		e.Type = histories.Resumed
		s.emit(e)
	}
	s.holder[lock] = 0
	s.after(time.Millisecond, func() { s.grant(lock) })
	e = s.event(c, histories.Invoke, histories.Release, lock)
	e.Token, e.Depth = token, 1
	s.emit(e)
	s.after(time.Millisecond+s.exp(3*time.Millisecond), func() {
		e := s.event(c, histories.OK, histories.Release, lock)
		e.Token, e.Depth = token, 1
		s.emit(e)
		s.after(s.exp(s.rest), func() { s.cycle(c) })
	})
}

func (s *synthetic) fault(id int) {
	if s.now > s.length*9/10 {
		return
	}
	c, took := s.rand.IntN(s.clients), time.Second+s.exp(time.Second)
	f := &histories.Fault{ID: id, Name: []string{"black-hole", "latency", "expire-silence"}[id%3], Targets: []string{fmt.Sprintf("client %d", c)}, Processes: []int{c}}
	s.emit(histories.Event{Type: histories.FaultStart, Process: -1, Fault: f})
	s.hold[c] = s.now + took
	s.after(took, func() { s.emit(histories.Event{Type: histories.FaultStop, Process: -1, Fault: f}) })
	s.after(2*time.Second, func() { s.fault(id + 1) })
}
