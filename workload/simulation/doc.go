// Package simulation carries out whole runs in virtual time: simulated servers, clients,
// faults and the record are in one bubble of testing/synctest, where a minute takes no
// longer than what happens in it. The locks and the client of ZooKeeper are those that
// are shipped, unchanged.
//
// A run is told by a [Spec], which can be written as JSON, and shows an [Outcome]. Each has
// a process of its own, which a [Fleet] starts and [Host] is inside of: what one run leaves
// in memory cannot change the next, so that a Spec that is run again, by a program whose Go
// runtime is seeded, does the same again.
package simulation
