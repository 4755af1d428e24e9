package main

import (
	"context"
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"
)

// sequentialLock is the lock of ZooKeeper's page of recipes and no more: each contender has
// a sequential node and watches the one before.
type sequentialLock struct {
	conn *zk.Conn
	path string
	node string
	// trusting takes the turn when the node before has gone, without checking whether
	// others are still ahead.
	trusting bool
}

func newSequentialLock(conn *zk.Conn, path string) lock {
	return &sequentialLock{conn: conn, path: path}
}

func newTrustingLock(conn *zk.Conn, path string) lock {
	return &sequentialLock{conn: conn, path: path, trusting: true}
}

func (l *sequentialLock) acquire(context.Context) (err error) {
	if l.node, err = l.conn.Create(l.path+"/lock-", nil, zk.FlagEphemeralSequential, openACL); err != nil {
		return err
	}
	name := l.node[len(l.path)+1:]
	for {
		queue, _, err := l.conn.Children(l.path)
		if err != nil {
			return err
		}
		slices.Sort(queue)
		self := slices.Index(queue, name)
		if self < 0 {
			return errors.New("own node is gone")
		}
		if self == 0 {
			return nil
		}
		_, _, gone, err := l.conn.GetW(l.path + "/" + queue[self-1])
		if errors.Is(err, zk.ErrNoNode) {
			continue
		}
		if err != nil {
			return err
		}
		if e := <-gone; e.Err != nil || l.trusting {
			return e.Err
		}
	}
}

func (l *sequentialLock) release(context.Context) error { return l.conn.Delete(l.node, -1) }
