// Package simulation carries out whole runs in virtual time: simulated servers, clients, faults
// and the record are in one bubble of testing/synctest, where a minute takes only the time of
// the events in it. The locks and the client of ZooKeeper are those that are shipped,
// unchanged.
//
// A [Spec], which can be written as JSON, describes a run, and an [Outcome] its result. Each
// run has a process of its own: a [Fleet] starts it, and it calls [Host]. So the memory of one
// run cannot change the next, and a Spec that is run again, by a program whose Go runtime is
// seeded, makes the same run again.
package simulation
