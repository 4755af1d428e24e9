// Package cluster connects [model.Server]s to an ensemble: the messages between them take
// time and pass links that can be cut, their disks are slow and may lose data that was
// not synced, and their processes can be killed, paused and restarted.
//
// A [Cluster] has no goroutine and no clock. Its caller sets the time ([Cluster.Advance])
// and carries the messages between clients and servers. The cluster draws its random
// choices from a seed: the same calls at the same instants give the same run.
package cluster
