// Package recipes provides locks on ZooKeeper that tell their holder when they
// are lost.
//
// # Contract
//
// A [Client] keeps one ZooKeeper session at a time and opens a new one when the
// old one has ended. A [Mutex] names a lock by its path. Acquire returns a
// [Lease], which belongs to exactly one session:
//
//   - At most one client believes that it holds a mutex at any instant, under
//     any fault of the network or the servers, as long as clocks advance at the
//     same rate and the holder's process is not paused. To that end a lease is
//     lost before the servers can expire its session, see [Lease.Lost] and the
//     rule in internal/session/evidence.go.
//   - A paused process can still wake up holding a stale belief: only the
//     fencing token protects then, see [Lease.Token] and [Fence].
//   - A session that an administrator ends gives no warning: Lost follows within
//     one heartbeat and one round trip; until then, again, only the fencing
//     token protects.
//   - Grants are strictly first come, first served among all clients on a path,
//     Curator's included: nodes are named as Curator 5 names them. Only
//     [WithLocalHandoff] and [WithGrantRule] change that.
//   - Whatever happens to a call — cancel, timeout, lost reply, failed clean-up —
//     the node it made is deleted in the background until it is gone or its
//     session has ended.
//
// Besides the mutex there are [NonReentrantMutex], [ReadWriteMutex],
// [MultiLock], [Semaphore] with [SharedCount], [Barrier] and [DoubleBarrier],
// [Election] of a leader, and revocation ([WithRevocation], [Client.Revoke]). Each
// says what happens on loss, cancel, timeout and misuse.
//
// The context of an Acquire bounds the acquire alone. [Lease.Context] carries
// the owner: acquiring with it re-enters, whichever goroutine does it.
//
// # Errors
//
// Errors are sentinels for errors.Is; each says who returns it. An error that
// ended a context is that context's cause.
//
// # Goroutines
//
// A Client owns one goroutine that replaces sessions and one that delivers
// [Observer] calls and those of connection listeners; a session owns its heartbeat, one goroutine for each
// request in flight and one for each node still to be deleted. All of them have
// ended when [Client.Close] returns.
package recipes
