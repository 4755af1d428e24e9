package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/lock"
)

// Observer watches the sessions of all clients through a session of its own,
// which is linked to the servers directly.
//
// Every session keeps an ephemeral presence node. The observer records a session as expired
// when the node is missing from a list of the nodes that is certainly younger than the node.
// The age of a list is the parent's pzxid.
type Observer struct {
	connection *lock.Connection
	conn       *zk.Conn // of the connection
	auth       ensemble.Credentials
	wg         sync.WaitGroup // owned by close: reads of counters
	Root       string         // of the run
	Journal    *journal.Journal
	Expired    func(session int64)

	mu      sync.Mutex
	present map[int64]int64 // czxid of the presence node by session
	closed  map[int64]bool  // sessions that their clients have closed
}

// observerTimeout is the observer's session timeout. It is longer than an election; the
// observer has no ephemeral nodes that would be in the way.
const observerTimeout = 20 * time.Second

// pollAgain is the pause after a look that failed.
const pollAgain = 20 * time.Millisecond

// observerPoll is the interval at which the observer looks without an event of its watch.
const observerPoll = 500 * time.Millisecond

// NewObserver connects to servers. The observer is closed by Close.
func NewObserver(ctx context.Context, servers []ensemble.Server, auth ensemble.Credentials) (*Observer, error) {
	var addrs []string
	for _, s := range servers {
		addrs = append(addrs, s.Addr)
	}
	dial := func(ctx context.Context, _, addr string) (net.Conn, error) {
		return dialCapped(ctx, servers[slices.Index(addrs, addr)])
	}
	c, err := lock.Connect(ctx, lock.Env{Servers: addrs, Dial: dial, SessionTimeout: observerTimeout, Auth: auth})
	if err != nil {
		return nil, fmt.Errorf("connecting the run's observer: %w", err)
	}
	return &Observer{connection: c, conn: c.Conn(), auth: auth, present: make(map[int64]int64), closed: make(map[int64]bool)}, nil
}

// dialCapped dials a server, and limits the time to wait for its answer.
func dialCapped(ctx context.Context, s ensemble.Server) (net.Conn, error) {
	conn, err := s.Dial(ctx)
	if err != nil {
		return nil, err
	}
	return ensemble.CapHandshake(conn, observerTimeout), nil
}

// Close ends the session, and returns when all that the observer has started has ended.
func (o *Observer) Close() {
	o.connection.Crash() // with a network this closes the session
	o.wg.Wait()
}

// MakeRoot creates the run's own folder and returns its path.
func (o *Observer) MakeRoot(parent string) (string, error) {
	p := ""
	for _, part := range strings.Split(strings.Trim(parent, "/"), "/") {
		p += "/" + part
		if err := o.Create(p); err != nil {
			return "", err
		}
	}
	root, err := o.conn.Create(p+"/run-", nil, zk.FlagSequence, o.auth.ACL())
	if err != nil {
		return "", err
	}
	o.Root = root
	return root, errors.Join(o.Create(root+"/locks"), o.Create(o.Presence()))
}

// Create creates a persistent node, unless it exists.
func (o *Observer) Create(p string) error {
	// A client that may create nodes below it need not be allowed to create it.
	there, _, err := o.conn.Exists(p)
	if err != nil || there {
		return err
	}
	if _, err = o.conn.Create(p, nil, 0, o.auth.ACL()); errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// RemoveRoot deletes what the run has created, as far as it can.
func (o *Observer) RemoveRoot() {
	var remove func(string)
	remove = func(p string) {
		children, _, err := o.conn.Children(p)
		if err != nil {
			return
		}
		for _, c := range children {
			remove(path.Join(p, c))
		}
		_ = o.conn.Delete(p, -1)
	}
	if o.Root != "" {
		remove(o.Root)
	}
}

// Watch records expiries until ctx ends.
func (o *Observer) Watch(ctx context.Context) {
	var changed <-chan zk.Event
	for ctx.Err() == nil {
		var children []string
		var stat *zk.Stat
		var err error
		if changed == nil {
			children, stat, changed, err = o.conn.ChildrenW(o.Presence())
		} else {
			children, stat, err = o.conn.Children(o.Presence())
		}
		if err != nil {
			changed = nil
			wait.For(ctx, pollAgain)
			continue
		}
		o.compare(children, stat.Pzxid)
		timer := time.NewTimer(observerPoll)
		select {
		case <-changed:
			changed = nil
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// compare records the sessions whose nodes are missing from a list of that age.
func (o *Observer) compare(children []string, age int64) {
	o.mu.Lock()
	var gone []int64
	for session, czxid := range o.present {
		if czxid <= age && !slices.Contains(children, lock.SessionName(session)) {
			delete(o.present, session)
			if !o.closed[session] {
				gone = append(gone, session)
			}
		}
	}
	o.mu.Unlock()
	slices.Sort(gone)
	for _, session := range gone {
		o.Journal.Append(histories.Event{Type: histories.Expired, Process: -1, Session: lock.SessionName(session)})
		o.Expired(session)
	}
}

// Closing records that a client is about to close its session.
func (o *Observer) Closing(session int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed[session] = true
}

// Presence returns the path under which sessions keep their presence nodes.
func (o *Observer) Presence() string { return o.Root + "/sessions" }

// Announced records a session's presence node.
func (o *Observer) Announced(session, czxid int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.present[session] = czxid
}

// LockRoot returns the path under which the locks live.
func (o *Observer) LockRoot() string { return path.Join(o.Root, "locks") }
