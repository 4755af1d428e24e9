package servers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/model/wire"
	"github.com/zkverify/zkverify/ensemble/txnlog"
	"github.com/zkverify/zkverify/histories/service"
	"github.com/zkverify/zkverify/workload/lock"
)

// Clock relates the machine's wall clock, which stamps transactions, to the clock of a run.
type Clock struct {
	origin time.Time // the wall clock at the run's time 0
	off    time.Duration
}

// NewClock reads both clocks; elapsed is the time of the run now.
func NewClock(elapsed time.Duration) Clock {
	return Clock{origin: time.Now().Round(0).Add(-elapsed)}
}

// Again reads both clocks once more: the wall clock may have been set meanwhile.
func (c Clock) Again(elapsed time.Duration) Clock {
	c.off = max(c.off, NewClock(elapsed).origin.Sub(c.origin).Abs())
	return c
}

// stampedWithin is the largest error of a leader's stamp: stamps are cut to the millisecond.
const stampedWithin = time.Millisecond

// Know reports whether servers know their transactions by themselves, with exact times.
func Know(servers ensemble.Ensemble) bool {
	_, know := servers.(txnlog.Source)
	return know
}

// Service reads the servers' logs, if their files are on this machine, or asks servers that know
// their transactions by themselves, and returns their acts on the nodes below locks, and on the
// sessions that had ephemeral nodes there or in presence. It is nil if the files are elsewhere.
func Service(ctx context.Context, servers ensemble.Ensemble, locks, presence string, clock Clock) (*service.Log, error) {
	l := lives{
		log:   new(service.Log),
		locks: locks + "/", presence: presence + "/", origin: clock.origin,
		open: make(map[string]openNode), owned: make(map[int64][]string), ours: make(map[int64]bool),
	}
	if s, knows := servers.(txnlog.Source); knows {
		all := s.Committed()
		if len(all) == 0 {
			return nil, nil
		}
		l.log.Servers, l.log.Transactions = len(servers.Servers()), len(all)
		for _, t := range all {
			l.take(t)
		}
		return l.whole(), nil
	}
	dirs, err := dirsOf(ctx, servers)
	if dirs == nil || err != nil {
		return nil, err
	}
	l.log.Servers, l.log.Clock = len(servers.Servers()), clock.off+stampedWithin
	for t, err := range txnlog.Committed(dirs) {
		if err != nil {
			return nil, err
		}
		l.log.Transactions++
		l.take(t)
	}
	return l.whole(), nil
}

// whole completes the record with the sessions that have not ended, and returns it.
func (l *lives) whole() *service.Log {
	for id := range l.ours {
		l.log.Sessions = append(l.log.Sessions, service.Session{ID: lock.SessionName(id)})
	}
	service.SortSessions(l.log.Sessions)
	return l.log
}

// dirsOf returns the log directories of servers on this machine; nil if they are elsewhere.
func dirsOf(ctx context.Context, servers ensemble.Ensemble) (map[int]txnlog.Dir, error) {
	disks, ok := servers.(ensemble.Disks)
	if !ok {
		return nil, nil
	}
	dirs := make(map[int]txnlog.Dir)
	for _, s := range servers.Servers() {
		folder, err := disks.DataDir(ctx, s.ID)
		if errors.Is(err, errors.ErrUnsupported) {
			return nil, nil
		}
		var dir txnlog.Dir
		if err == nil {
			dir, err = txnlog.Open(folder)
		}
		if err != nil {
			return nil, fmt.Errorf("server %d: %w", s.ID, err)
		}
		dirs[s.ID] = dir
	}
	return dirs, nil
}

// lives puts together the lives of nodes and sessions from transactions in their order.
type lives struct {
	log             *service.Log
	locks, presence string
	origin          time.Time
	open            map[string]openNode // by path of an existing lock node
	owned           map[int64][]string  // paths that a session has created
	ours            map[int64]bool      // sessions that have not ended
}

// openNode is a lock node that exists: its index in a list of the log, and the data that it was
// created with.
type openNode struct {
	in   *[]service.Node
	i    int
	data []byte
}

func (n openNode) node() *service.Node { return &(*n.in)[n.i] }

func (l *lives) take(t txnlog.Txn) {
	at := service.At{Zxid: t.Zxid, Time: t.Time.Sub(l.origin)}
	if t.Op == wire.CloseSession {
		l.close(t, at)
		return
	}
	for _, c := range t.Changes {
		switch {
		case c.Op == wire.Create && c.Ephemeral && strings.HasPrefix(c.Path, l.presence):
			l.ours[t.Session] = true
		case c.Op == wire.Create && c.Ephemeral && strings.HasPrefix(c.Path, l.locks):
			l.ours[t.Session] = true
			path := c.Path[len(l.locks):]
			l.owned[t.Session] = append(l.owned[t.Session], path)
			l.create(&l.log.Nodes, path, t, at, c.Data)
		case c.Op == wire.Create && c.Container && strings.HasPrefix(c.Path, l.locks):
			l.create(&l.log.Parents, c.Path[len(l.locks):], t, at, c.Data)
		case c.Op == wire.Create && strings.HasPrefix(c.Path, l.locks):
			l.create(&l.log.Standing, c.Path[len(l.locks):], t, at, c.Data)
		case c.Op == wire.SetData && strings.HasPrefix(c.Path, l.locks):
			l.write(c.Path[len(l.locks):], at, lock.SessionName(t.Session), c.Data)
		case c.Op == wire.Delete:
			l.delete(strings.TrimPrefix(c.Path, l.locks), at, lock.SessionName(t.Session))
		}
	}
}

func (l *lives) create(in *[]service.Node, path string, t txnlog.Txn, at service.At, data []byte) {
	if parent, there := l.open[path[:max(0, strings.LastIndexByte(path, '/'))]]; there && parent.in == &l.log.Parents && parent.node().Used == nil {
		parent.node().Used = &at
	}
	l.open[path] = openNode{in, len(*in), data}
	*in = append(*in, service.Node{Path: path, Session: lock.SessionName(t.Session), Created: at})
}

// write records a write to a node.
func (l *lives) write(path string, at service.At, by string, data []byte) {
	of, there := l.open[path]
	if !there {
		return
	}
	n := of.node()
	if by == n.Session {
		by = ""
	}
	n.Writes = append(n.Writes, service.Write{At: at, By: by, Same: bytes.Equal(data, of.data)})
}

func (l *lives) delete(path string, at service.At, by string) {
	of, there := l.open[path]
	if !there {
		return
	}
	delete(l.open, path)
	n := of.node()
	if n.Deleted = &at; by != n.Session {
		n.By = by
	}
}

// close ends a session, and all nodes that it owns: before ZooKeeper 3.6 the transaction does
// not name the nodes.
func (l *lives) close(t txnlog.Txn, at service.At) {
	if !l.ours[t.Session] {
		return
	}
	id := lock.SessionName(t.Session)
	for _, path := range l.owned[t.Session] {
		if of, there := l.open[path]; there && of.node().Session == id {
			l.delete(path, at, id)
			of.node().Ended = true
		}
	}
	delete(l.owned, t.Session)
	delete(l.ours, t.Session)
	l.log.Sessions = append(l.log.Sessions, service.Session{ID: id, Closed: &at, Expired: t.Cxid == 0})
}
