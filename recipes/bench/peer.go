package main

import (
	"context"
	"time"
)

// peer is a lock that is measured. Its methods are called one at a time; after
// an error it is only closed.
type peer interface {
	// run does the work and returns how long it took.
	run(ctx context.Context, w work) (result, error)
	// park takes the lock of the work, makes all contenders wait behind it, and
	// returns without waiting until they do.
	park(ctx context.Context, w work) error
	// unpark releases the lock that park took, and returns when each waiter has had the
	// lock once.
	unpark(ctx context.Context) error
	// disconnect ends the peer's sessions; the next work opens others.
	disconnect(ctx context.Context) error
	// close ends the peer.
	close()
}

// result is the cost of one repetition.
type result struct {
	elapsed time.Duration
	mallocs uint64 // objects allocated meanwhile; 0 of a peer in another process
}

// Names of the peers in the table.
const (
	ours       = "recipes"
	handoff    = "recipes, hand-off 64"
	floor      = "floor"
	zkLock     = "zk.Lock"
	sequential = "plain sequential"
	trusting   = "trusting sequential"
	naive      = "naive ephemeral"
	curator    = "Curator"
	kazoo      = "kazoo"
	inWorker   = "Curator in a worker"
)

// aboutPeers explains the names below the table.
var aboutPeers = []struct{ name, text string }{
	{ours, "this module's locks: strict FIFO, fencing token, loss notification"},
	{handoff, "the same with WithLocalHandoff(64)"},
	{floor, "ephemeral sequential nodes through go-zookeeper: the creates of all contenders at once, then the deletes one after the other; of several sessions, in turns"},
	{zkLock, "the lock of go-zookeeper itself"},
	{sequential, "the textbook lock: a sequential node each, watching the one before (Go)"},
	{trusting, "the same without a look for others ahead when that one has gone: no lock, but the least that a lock between separate sessions can cost"},
	{naive, "one ephemeral node that all contenders watch (Go)"},
	{curator, "Apache Curator (Java), one lock object a thread"},
	{kazoo, "kazoo (Python), one lock object a thread"},
	{inWorker, "Curator's mutex in a worker process of zkverify, with the questions of a hold of a run"},
}
