package main

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// naiveLock is the simplest lock: the client that creates the one node has it. Each release
// wakes all waiters, and only one of them gets the lock.
type naiveLock struct {
	conn *zk.Conn
	node string
}

func newNaiveLock(conn *zk.Conn, path string) lock { return naiveLock{conn, path + "/lock"} }

func (l naiveLock) acquire(context.Context) error {
	for {
		_, err := l.conn.Create(l.node, nil, zk.FlagEphemeral, openACL)
		if !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		there, _, gone, err := l.conn.ExistsW(l.node)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		if e := <-gone; e.Err != nil {
			return e.Err
		}
	}
}

func (l naiveLock) release(context.Context) error { return l.conn.Delete(l.node, -1) }
