// Package inspect tells an operator who holds and who waits for the locks of an
// ensemble: those of package recipes, of Apache Curator, of kazoo, and zk.Lock of
// go-zookeeper. zkverify locks is its command line.
//
// # What it reads
//
// [Find] walks the nodes below a path and returns a [Snapshot] with every lock there;
// [Read] reads one lock. Both read only, through a [Source], which *zk.Conn is: they
// create, change and delete nothing, and set no watch. A lock is recognized by the names
// of the nodes in its queue, which docs/interop.md lists. The names do not tell recipes
// from Curator, nor a mutex that is not reentrant from a semaphore of size 1.
//
// A lock that nobody holds and nobody waits for has no nodes, and is not found.
//
// # Who holds
//
// The grant rule of each recipe says it: the first contender of a mutex or an election,
// the readers before the first writer, every permit of a semaphore, the members of a
// double barrier that belong to its round. A grant rule of your own (recipes.WithGrantRule)
// leaves no trace on the servers: its lock is read as a mutex.
//
// Since is when the contender's node was created, by the leader's wall clock. The servers
// do not record when it was granted the lock: a hold is at most as old as its node. Only
// a permit is created when it is granted.
//
// # Judgements
//
// [ReadSessions] asks each server which sessions it serves. [Diagnose] finds what is wrong
// with locks. A [Sampler] compares snapshots and tells how often and for how long locks
// are held. [Break] deletes the node of a holder, if it is still that of the given token.
package inspect
