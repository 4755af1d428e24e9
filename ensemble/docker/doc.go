// Package docker runs the ZooKeeper servers of a run in containers, through
// testcontainers-go. It runs any image that is configured like the official one, and so
// any version of ZooKeeper.
//
// The connections between servers pass Toxiproxy, as with local processes, so the same
// faults of peers are offered. Kill, pause and restart are Docker's own; besides, a
// server can be unplugged from its network ([Ensemble.Unplug]).
//
// Client ports are published on loopback alone. Links of peers listen on the gateway of
// the containers' own network, which no other host can reach, or, where Docker runs in a
// virtual machine (Docker Desktop), on loopback.
//
// # Leftovers
//
// Close removes the containers and the network. If this process is killed they stay until
// the next [Start] on this machine, which removes the containers and networks of
// processes that have ended. The reaper of testcontainers (Ryuk) is not used, because it
// has to be fetched from a registry; TESTCONTAINERS_RYUK_DISABLED=false turns it on.
package docker
