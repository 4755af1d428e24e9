// Package inspect shows an operator the holders and the waiters of the locks of an
// ensemble: those of package recipes, of Apache Curator, of kazoo, and zk.Lock of
// go-zookeeper. zkverify locks is its command line.
//
// # Reading
//
// [Find] walks the nodes below a path and returns a [Snapshot] with every lock there;
// [Read] reads one lock. Both only read, through a [Source], which *zk.Conn implements:
// they create, change and delete no node, and set no watch. A lock is recognized by the
// names of the nodes in its queue, which docs/interop.md lists. The names do not tell
// recipes from Curator, nor a mutex that is not reentrant from a semaphore of size 1.
//
// A lock without holders and waiters has no nodes, and is not found.
//
// # Holders
//
// The grant rule of each recipe determines the holders: the first contender of a mutex or
// an election, the readers before the first writer, every permit of a semaphore, the
// members of a double barrier that belong to its round. A grant rule of your own
// (recipes.WithGrantRule) leaves no trace on the servers: its lock is read as a mutex.
//
// Since is when the contender's node was created, by the leader's wall clock. The servers
// do not record when it was granted the lock: a hold is at most as old as its node. Only a
// permit is created when it is granted.
//
// # Judgements
//
// [ReadSessions] asks each server which sessions it serves. [Diagnose] finds problems of
// locks. A [Sampler] compares snapshots and computes how often and for how long locks are
// held. [Break] deletes the node of a holder, if it still belongs to the given token.
package inspect
