package live

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble/model"
	"github.com/zkverify/zkverify/ensemble/model/cluster"
)

// Live carries out the events of a cluster's servers, and of their clients' links, when
// they are due: from Start to Stop a timer calls due, in a goroutine that ends with the
// call.
//
// Its mutex is held while a server handles its input, and never during a wait. The mutex
// of a connection is taken after it.
type Live struct {
	// Cluster may be used only by functions that are passed to Do and Await.
	Cluster *cluster.Cluster
	// Print, if set before Start, is called with the lines that servers print. It must not call
	// back.
	Print func(server int, line string)
	// Trace, if set before Start, is called with the messages of clients in memory and of servers
	// as they are sent, whether or not they arrive. It must neither call back nor change the data,
	// which stays as it is.
	Trace func(Message)
	// Orders, if set before Start, decides the order of messages around releases.
	Orders *Orders

	began   time.Time // the instant 0
	limit   time.Duration
	overdue func()
	ended   chan struct{}  // closed by Stop
	calls   sync.WaitGroup // of due: those under way, and the one that timer will make

	mu      sync.Mutex    // guards the fields below, the cluster and the links
	timer   *time.Timer   // calls due
	armed   time.Duration // for that instant; negative if due has been called
	skew    time.Duration // by which the servers' time is ahead
	ends    map[model.ConnID]End
	waiters []*waiter
	stopped bool

	nextOrder time.Duration // instant from which Orders may be used again
}

// End is a client's end of a connection to a server. Its methods must not block, and
// must not call Live.
type End interface {
	// Reply receives bytes of the server. End owns them.
	Reply(data []byte)
	// Hangup is called when the server has closed the connection, after its last Reply.
	Hangup()
}

// Message is a message of a client in memory to a server, or of the server to it.
type Message struct {
	At     time.Duration // since the servers were started, as they see it
	Client string        // its address
	Conn   model.ConnID
	Server int
	Reply  bool // from the server to the client
	Lost   bool // the link loses it
	Data   []byte
	// Arrived is the number of bytes that have reached this end of the connection so far. It may be
	// read within Do, or after Stop.
	Arrived *int
}

// waiter waits for a condition to hold.
type waiter struct {
	holds func() bool
	done  chan struct{} // closed when it holds
}

// New starts servers and has them elect a leader, in no time at all.
func New(c cluster.Config) (*Live, error) {
	l := &Live{ended: make(chan struct{}), ends: map[model.ConnID]End{}}
	var err error
	if l.Cluster, err = cluster.New(c, clusterEnd{l}); err != nil {
		return nil, err
	}
	for !l.allServe() {
		if l.Cluster.Now() > electionLimit {
			return nil, fmt.Errorf("after %v not all servers serve: try another seed", l.Cluster.Now())
		}
		l.Cluster.Advance(l.Cluster.Due())
	}
	return l, nil
}

// electionLimit is far longer than a healthy ensemble needs to elect its first leader.
const electionLimit = 10 * time.Minute

func (l *Live) allServe() bool {
	return !slices.ContainsFunc(l.Cluster.IDs(), func(id int) bool { return l.Cluster.Mode(id) == "" })
}

// Limit calls overdue if the servers still run after d. It must be called before Start.
func (l *Live) Limit(d time.Duration, overdue func()) {
	l.limit, l.overdue = l.Cluster.Now()+d, overdue
}

// Start begins to follow the clock. It is called once, before Do, Await and Stop.
func (l *Live) Start() {
	now := time.Now()
	l.began = now.Add(-l.Cluster.Now())
	l.Cluster.SetClock(now) // the first election took no time
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls.Add(1)
	l.timer = time.AfterFunc(0, l.due)
}

// due carries out the events that are due, and arms the timer for the next.
func (l *Live) due() {
	defer l.calls.Done()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return
	}
	l.armed = -1
	l.advance()
	l.arm()
}

// arm sets the timer for the next event. l is locked.
func (l *Live) arm() {
	at := l.Cluster.Due() - l.skew
	if at == l.armed {
		return
	}
	l.armed = at
	if pending := l.timer.Reset(time.Until(l.began.Add(at))); !pending {
		l.calls.Add(1)
	}
}

// Stop ends every connection, and waits for calls under way. It may be called more than
// once.
func (l *Live) Stop() {
	l.mu.Lock()
	if !l.stopped {
		l.stopped = true
		for _, id := range slices.Sorted(maps.Keys(l.ends)) {
			end := l.ends[id]
			delete(l.ends, id)
			if c, ok := end.(*conn); ok {
				c.end(errStopped)
			} else {
				end.Hangup()
			}
		}
		close(l.ended)
		if l.timer.Stop() {
			l.calls.Done()
		}
	}
	l.mu.Unlock()
	l.calls.Wait()
}

// now returns the time that has passed for the servers.
func (l *Live) now() time.Duration { return time.Since(l.began) + l.skew }

// advance carries out the events that are due by now. l is locked.
func (l *Live) advance() {
	now := l.now()
	if l.limit > 0 && now-l.skew > l.limit {
		l.overdue()
	}
	l.Cluster.Advance(max(now, l.Cluster.Now()))
	l.waiters = slices.DeleteFunc(l.waiters, func(w *waiter) bool {
		holds := w.holds()
		if holds {
			close(w.done)
		}
		return holds
	})
}

// Advance moves the servers' time alone forward, at once.
func (l *Live) Advance(d time.Duration) {
	l.Do(func() { l.skew += max(d, 0) })
}

// Do calls change, at the current instant, and carries out the events that are due then.
// It returns false, and does nothing, after Stop.
func (l *Live) Do(change func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return false
	}
	l.advance()
	change()
	l.advance()
	l.arm()
	return true
}

// Await waits until holds returns true or done is closed, and reports whether holds did.
// It calls holds as Do calls its function.
func (l *Live) Await(done <-chan struct{}, holds func() bool) bool {
	w := &waiter{holds, make(chan struct{})}
	if !l.Do(func() { l.waiters = append(l.waiters, w) }) {
		return false
	}
	select {
	case <-w.done:
		return true
	case <-done:
	case <-l.ended:
	}
	l.Do(func() {
		l.waiters = slices.DeleteFunc(l.waiters, func(other *waiter) bool { return other == w })
	})
	return false
}

// Accept opens a connection of a client to a server. It returns false if the server's
// process does not run. It is called within Do.
func (l *Live) Accept(server int, ip string, end End) (model.ConnID, bool) {
	id, ok := l.Cluster.Accept(server, ip)
	if ok {
		l.ends[id] = end
	}
	return id, ok
}

// Closed tells a server that a client has closed its connection, or that the connection
// broke. It is called within Do, and does nothing after the server has hung up.
func (l *Live) Closed(server int, id model.ConnID) {
	if l.ends[id] != nil {
		delete(l.ends, id)
		l.Cluster.Closed(server, id)
	}
}

// Receive passes bytes from a client to a server. It is called within Do, and does
// nothing after the server has hung up.
func (l *Live) Receive(server int, id model.ConnID, data []byte) {
	if l.ends[id] != nil {
		l.Cluster.Receive(server, id, data)
	}
}

// The cluster calls the rest of this file, with l locked.

// clusterEnd implements cluster.Clients. Callers of Live do not use it.
type clusterEnd struct{ *Live }

func (e clusterEnd) Reply(_ int, id model.ConnID, data []byte) {
	if end := e.ends[id]; end != nil {
		end.Reply(slices.Clone(data))
	}
}

func (e clusterEnd) Hangup(_ int, id model.ConnID) {
	if end := e.ends[id]; end != nil {
		delete(e.ends, id)
		end.Hangup()
	}
}

func (e clusterEnd) Print(server int, line string) {
	if e.Live.Print != nil {
		e.Live.Print(server, line)
	}
}
