// Package simulated runs ZooKeeper servers in Go: those of ensemble/model, over TCP and
// in real time. There is no Java and no process: a server is killed, paused and restarted
// inside this process, and the messages between servers pass links that are cut without a
// proxy.
//
// Any ZooKeeper client can connect. Disks are in memory: they end with the ensemble.
//
// # Concurrency
//
// One mutex guards the servers. The clock's goroutine carries out events when they are
// due; each listener has a goroutine that accepts, and each connection one that reads and
// one that writes. Close ends all of them and waits for them.
package simulated
