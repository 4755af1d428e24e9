// Package workload drives locks under test with many clients, observes the clients and the
// servers, and records all of it.
//
// A lock is tested through a lock.Target: a few methods that open a client and acquire and
// release. Zkverify's own recipes, ZooKeeper's stock Go lock and two textbook locks are targets
// of package targets. To verify a lock of your own, write a target and give it to [Run].
//
// A target may offer more than a mutex: then its clients implement one more small
// interface of package lock for each recipe. The recipes that can be driven are
// [Recipes].
//
// # What a run does
//
// Each client is a single-threaded loop, Jepsen's process. In cycles it
// acquires one of the locks (waiting for ever, up to a timeout, cancelled in
// mid-wait, or only trying), reads and increments two counters that the lock
// guards, holds on for a while, perhaps re-enters, and releases, or crashes.
// It is as careful as a user can be: it writes only while its lease says that
// it is valid, and stops when it is told that the lease is lost. One of the
// counters is behind a fence that refuses old tokens, the other is guarded by
// mutual exclusion alone.
//
// Where a target allows it (lock.Concurrent) a fifth of the clients share the session of
// another one: they contend with each other within one client of the target, and crash
// together. A holder that was notified of its loss acquires once more for the same owner, which
// the target must refuse.
//
// Meanwhile the nemesis strikes. A client that is hit while it holds a lock
// often holds on for longer than its session can live: that is when two
// clients come to believe in one lock.
//
// In a run of several recipes each client has a home recipe, and in most cycles visits the
// recipe that all others visit at that time. Readers read twice, writers downgrade, multi-locks
// are acquired in opposite orders, permits in any number, the size of a semaphore changes,
// holders are asked to release, barriers go up and down. A double barrier is entered in rounds:
// as many clients as it has members meet and go, or, now and then, too few. A round that a
// crash or a timeout breaks ends when its members' patience ends, and the next begins when no
// node of it is left.
//
// The phases are chaos, recovery and end. In recovery every fault is healed, and every client
// that has waited since before, without a timeout, must get its lock; then every client must
// get every lock once, in each mode, and pass every barrier; then they try each lock, one
// client after the other. Then, with every lock released, the contender nodes and watches that
// are left on the servers are counted, and, after the clients are closed, the goroutines.
//
// # What is on record
//
// An invoke is recorded before the target is called, a completion after it has
// returned; a lost before the process acts on it, and never after the process
// has called Release. A release whose outcome is unknown ends in info: its
// process is retired, and the client goes on as another. Process numbers are
// Jepsen's: client i of n is process i, then i+n, then i+2n. The end of a
// session is recorded by an observer that has a session of its own, not
// through the links that faults cut: every session keeps an ephemeral presence
// node, and the observer sees it vanish.
//
// # What a seed decides
//
// Every client draws from a random stream of its own, one cycle at a time, each cycle the same
// number of draws: what a client does next does not depend on what happened to it. The choices
// of one recipe come from a second stream. The recipe to visit is a function of the seed and
// the time. The nemesis draws its schedule before the run. The timing is left to the machine.
package workload
