// Package lock defines the interfaces between a run and a lock under test.
//
// A lock is tested through a [Target], which opens clients ([Client]) that acquire
// and release leases ([Lease]). To verify a lock of your own, write a
// target, and give it to workload/verify in a Go test, or to workload/worker in a
// process of its own. [Connect] makes a connection for targets that use a plain
// zk.Conn.
//
// A target may offer more recipes than one: then it is a [Collection], and its clients
// implement one more small interface for each recipe, which states the requirements of the
// recipe: [ReadWriteLocker], [PermitLocker], [BarrierClient] and so on.
//
// The answers of a lock about itself are judged if its target promises histories.Promises.Says.
// Leases and lockers answer the questions that they have methods for: [DeadlineLease],
// [HeldLocker], [QueueLocker] and so on; an observer of the target reports through [Env].Told
// and [Told].
package lock
