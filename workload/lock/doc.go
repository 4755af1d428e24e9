// Package lock is what a lock under test looks like to a run.
//
// A lock is tested through a [Target], which opens clients ([Client]) that acquire
// and release leases ([Lease]). To verify a lock of your own, write a
// target, and give it to workload/verify in a Go test, or to workload/worker in a
// process of its own. [Connect] makes a connection for targets that use a plain
// zk.Conn.
//
// A target may offer more recipes than one: then it is a [Collection], and its
// clients implement one more small interface for each recipe, which says what is
// asked of the recipe: [ReadWriteLocker], [PermitLocker], [BarrierClient] and so on.
//
// What a lock says of itself is judged if its target promises
// histories.Promises.Says. Leases and lockers say as much as they have methods for:
// [DeadlineLease], [HeldLocker], [QueueLocker] and so on; an observer of the target
// is heard through [Env].Told.
package lock
