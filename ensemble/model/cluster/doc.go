// Package cluster is an ensemble of [model.Server]s: what they say to each other takes
// time and passes links that can be cut, their disks are slow and may lose what was not
// synced, and their processes can be killed, paused and restarted.
//
// A [Cluster] has no goroutine and no clock. Whoever drives it says what time it is
// ([Cluster.Advance]) and carries what clients and servers say to each other. What the
// cluster leaves to chance it draws from a seed: the same calls at the same instants
// give the same run.
package cluster
