// Package queue is the engine of the recipes: contenders that enqueue a node below a lock's
// path, wait for their turn and leave.
//
// A [Contender] belongs to one session. All contenders of a session for one lock share a
// local queue, the session's copy of the lock's queue. A [Rule] decides whose turn it is. A
// [Pool] holds the permits of a semaphore: one transaction takes permits for several
// contenders at the head of the queue. A contender whose turn has come gets a [Grant], on
// which a lease stands.
package queue
