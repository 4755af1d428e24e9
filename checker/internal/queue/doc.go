// Package queue judges the order and the progress of grants: a lock is granted in the order of
// its queue, and every client is granted it: after the faults, when it is first in the queue,
// and when the lock is free.
package queue
