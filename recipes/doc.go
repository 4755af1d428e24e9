// Package recipes provides locks on ZooKeeper that tell the holder when its lock is lost.
//
// # Contract
//
// A [Client] keeps one ZooKeeper session at a time and opens a new one when the old one has ended.
// A [Mutex] names a lock by its path. Acquire returns a [Lease], which belongs to one session:
//
//   - At most one client believes that it holds a mutex at any instant, under any fault of the
//     network or the servers, as long as clocks advance at the same rate and the holder's process
//     is not paused. To this end a lease is lost before the servers can expire its session: see
//     [Lease.Lost] and the rule in internal/session/evidence.go.
//   - A process that was paused may believe, when it wakes up, that it still holds the lock. When
//     an administrator ends a session, there is no warning: Lost is closed within one heartbeat and
//     one round trip. Until then only the fencing token protects: see [Lease.Token] and [Fence].
//   - Grants are strictly first come, first served among all clients on a path, Curator's included:
//     nodes are named as Curator 5 names them. Only [WithLocalHandoff] and [WithGrantRule] change
//     this order.
//   - When a call fails in any way (cancel, timeout, lost reply, failed clean-up), the client keeps
//     deleting the call's node in the background until it is gone or its session has ended.
//
// The documentation of each recipe states what happens on loss, cancel, timeout and misuse. Misuse
// is refused with an error, and a refused call leaves no node behind.
//
// The context of an acquire bounds the acquire alone: cancelling it ends the wait and deletes the
// contender's node. When the session ends during the wait, the acquire, or [DoubleBarrier.Enter],
// continues in the next session, at the end of the queue.
//
// # Paths
//
// A recipe's path is an absolute ZooKeeper path. The node there serves no other purpose, and has no
// children but the recipe's. Missing parents are created as containers. A value of a recipe is only
// a name, unless its documentation says otherwise: any number of values, in any number of
// processes, Curator's included, share what is at a path.
//
// # Errors
//
// Errors are sentinels for errors.Is; the documentation of each names the calls that return it.
// When a context has ended, the error is that context's cause. Every call that takes a context may
// return it, [ErrBadPath], [ErrBadOption], [ErrClosed], [ErrTooLarge] or an error of the servers,
// such as zk.ErrNoAuth (see [ServerError]).
//
// # Watches and goroutines
//
// [Barrier.Wait] and [Election.Observe] may leave a watch at the servers, one for all calls of a
// session, until its node changes or the session ends: ZooKeeper's Go client cannot remove a watch.
//
// A Client owns a goroutine that replaces sessions and one that calls the [Observer] and the
// connection listeners; a session owns one for its heartbeat and up to six for chains of its
// evidence, one for each request in flight and one for each node still to be deleted. All have
// ended when [Client.Close] returns.
package recipes
