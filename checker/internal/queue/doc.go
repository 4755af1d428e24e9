// Package queue judges who is served when: whether a lock is granted in the order of
// its queue, and whether everybody is granted it at all: after the faults, when first
// in the queue, and when it is free.
package queue
