package main

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// stockLock is go-zookeeper's own lock.
type stockLock struct{ *zk.Lock }

func newStockLock(conn *zk.Conn, path string) lock { return stockLock{zk.NewLock(conn, path, openACL)} }

func (l stockLock) acquire(context.Context) error { return l.Lock.Lock() }
func (l stockLock) release(context.Context) error { return l.Lock.Unlock() }
