// Package simulated gives a run ZooKeeper servers in Go: those of ensemble/model, over
// TCP and in real time. There is no Java and no process: a server is killed, paused and
// restarted inside this one, and what servers say to each other passes links that are
// cut without a proxy.
//
// Any client of ZooKeeper can connect. Disks are memory: they end with the ensemble.
//
// # Concurrency
//
// One mutex guards the servers. The clock's goroutine lets happen what is due; each
// listener has one that accepts, and each connection one that reads and one that
// writes. Close ends all of them and waits for them.
package simulated
