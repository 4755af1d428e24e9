package workload

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
	"github.com/zkverify/zkverify/workload/lock"
)

// observer watches the sessions of all clients through a session of its own,
// which is linked to the servers directly.
//
// Every session keeps an ephemeral presence node. The observer records a
// session as expired when a list of the nodes that is certainly younger than
// the node lacks it. A list tells its age: the parent's pzxid.
type observer struct {
	connection *lock.Connection
	conn       *zk.Conn // of the connection
	auth       ensemble.Credentials
	wg         sync.WaitGroup // owned by close: reads of counters
	root       string         // of the run
	journal    *journal
	expired    func(session int64)

	mu      sync.Mutex
	present map[int64]int64 // czxid of the presence node by session
	closed  map[int64]bool  // sessions that their clients have closed
}

// observerTimeout survives an election; the observer has no ephemeral nodes
// that would be in the way.
const observerTimeout = 20 * time.Second

// poll is how often the observer looks without having been called.
const poll = 500 * time.Millisecond

func newObserver(ctx context.Context, servers []string, auth ensemble.Credentials) (*observer, error) {
	c, err := lock.Connect(ctx, lock.Env{Servers: servers, Dial: dialCapped, SessionTimeout: observerTimeout, Auth: auth})
	if err != nil {
		return nil, fmt.Errorf("connecting the run's observer: %w", err)
	}
	return &observer{connection: c, conn: c.Conn(), auth: auth, present: make(map[int64]int64), closed: make(map[int64]bool)}, nil
}

// dialCapped dials a server, and does not wait for long until it answers.
func dialCapped(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return ensemble.CapHandshake(conn, observerTimeout), nil
}

func (o *observer) close() {
	o.connection.Crash() // which is a close where there is a network
	o.wg.Wait()
}

// makeRoot creates the run's own folder and returns its path.
func (o *observer) makeRoot(parent string) (string, error) {
	p := ""
	for _, part := range strings.Split(strings.Trim(parent, "/"), "/") {
		p += "/" + part
		if err := o.create(p); err != nil {
			return "", err
		}
	}
	root, err := o.conn.Create(p+"/run-", nil, zk.FlagSequence, o.auth.ACL())
	if err != nil {
		return "", err
	}
	o.root = root
	return root, errors.Join(o.create(root+"/locks"), o.create(o.presence()))
}

func (o *observer) create(p string) error {
	// Who may create below it need not be allowed to create it.
	there, _, err := o.conn.Exists(p)
	if err != nil || there {
		return err
	}
	if _, err = o.conn.Create(p, nil, 0, o.auth.ACL()); errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// removeRoot deletes what the run has created, as far as it can.
func (o *observer) removeRoot() {
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
	if o.root != "" {
		remove(o.root)
	}
}

// watch records expiries until ctx ends.
func (o *observer) watch(ctx context.Context) {
	var changed <-chan zk.Event
	for ctx.Err() == nil {
		var children []string
		var stat *zk.Stat
		var err error
		if changed == nil {
			children, stat, changed, err = o.conn.ChildrenW(o.presence())
		} else {
			children, stat, err = o.conn.Children(o.presence())
		}
		if err != nil {
			changed = nil
			pause(ctx, retryDelay, nil)
			continue
		}
		o.compare(children, stat.Pzxid)
		timer := time.NewTimer(poll)
		select {
		case <-changed:
			changed = nil
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// compare records the sessions whose nodes a list of that age lacks.
func (o *observer) compare(children []string, age int64) {
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
		o.journal.record(histories.Event{Type: histories.Expired, Process: -1, Session: lock.SessionName(session)})
		o.expired(session)
	}
}

// closing says that its own client is about to close a session.
func (o *observer) closing(session int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed[session] = true
}

// keepPresence gives every session of one client its node, until ctx ends.
func (o *observer) keepPresence(ctx context.Context, w *wire, target lock.Client) {
	keepPresence(ctx, w, target, o.presence(), o.auth.ACL(), o.announced)
}

// presence is where sessions keep their presence nodes.
func (o *observer) presence() string { return o.root + "/sessions" }

// announced is told of a session's presence node.
func (o *observer) announced(session, czxid int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.present[session] = czxid
}
