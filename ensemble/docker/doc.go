// Package docker runs the ZooKeeper servers of a run in containers, through
// testcontainers-go: any image that is configured like the official one, so any
// version of ZooKeeper.
//
// What the servers say to each other passes Toxiproxy, as with local processes,
// so the same faults of peers are offered. Kill, pause and restart are Docker's
// own; besides, a server can be unplugged from its network ([Ensemble.Unplug]).
//
// Client ports are published on loopback alone. Links of peers listen on the
// gateway of the containers' own network, which nobody else can reach, or, where
// Docker runs in a machine of its own (Docker Desktop), on loopback.
//
// # What is left behind
//
// Close removes the containers and the network. If this process is killed they
// stay until the next [Start] on this machine, which removes what belongs to
// processes that are no more. The reaper of testcontainers (Ryuk) is not used,
// for it has to be fetched from a registry; set TESTCONTAINERS_RYUK_DISABLED=false
// to have it nevertheless.
package docker
