// Package session is the recipes' connection to ZooKeeper.
//
// A [Keeper] keeps one [Session] at a time, and opens a new one when the servers have ended
// the old. A session makes requests ([Call], [Retry]), shares watches ([Watch]), deletes
// nodes in the background ([DeleteInBackground]), and knows the instant before which the
// servers cannot have ended it ([Session.Deadline]; evidence.go has the rule). Objects that
// must not outlast the session, such as leases, are its dependents ([Locked.Add]): it tells
// them when it is lost. The package knows nothing of locks.
//
// # The order of locks
//
// Several packages lock more than one mutex at a time. All of them keep to one order; a
// goroutine that has locked one of these locks only those to the right of it:
//
//	registry (recipes)      → session → hold (recipes) → notifier (recipes)
//	localQueue (queue)      → session
//	wireConn                → session
//	Keeper                  → session
//	session                 → states → notifier (recipes)
//	session                 → failures, pace
//	wireConn                → zxids
//	localQueue (queue)      → givenUp (queue)
//
// Every other mutex is locked alone, or last: those of watches, hosts, localQueues (queue),
// and in recipes those of cohort, cohorts and DoubleBarrier. A Fence calls its user's write
// while it is locked, and is not part of this order. Code that runs with a session locked
// never calls the Keeper.
//
// The registry is locked first because a re-entry (registry.enter) asks the hold. A local
// queue starts goroutines of its session while it is locked (localQueue.request,
// startBatch) and has nodes checked by the heartbeat (batch.grant). A wireConn tells the
// session of each answer (wireConn.reply). A session that ends loses its leases
// (Locked.end, hold.Lose). Code that runs with a session locked neither calls the user's
// code nor waits: calls of observers and listeners are posted to the notifier.
package session
