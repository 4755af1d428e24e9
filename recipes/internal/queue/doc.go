// Package queue is the recipes' engine: contenders that enqueue a node below a lock's
// path, wait for their turn and leave.
//
// A [Contender] belongs to one session. All contenders of a session for one lock share
// a local queue, what the session knows of the lock's queue. A [Rule] says whose turn it
// is. A [Pool] is what a semaphore adds: the permits, which one transaction takes for
// several contenders that stand at the head. What comes of it all is a [Grant], on which
// a lease stands.
package queue
