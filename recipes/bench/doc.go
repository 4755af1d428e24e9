// Command bench compares the locks of package recipes with those of other libraries, and
// with the least work that ZooKeeper allows for a lock, in one run on the same three local
// servers. It prints one table.
//
//	make bench
//	make bench ARGS='-case serial,contended-100 -reps 3'
//
// # What is compared
//
// A case is a shape of work: a number of contenders in a number of sessions, each of which
// acquires and releases a number of times. Each peer is a lock under that work. The peers
// of a case take turns within each repetition, starting with another one each time, so that
// other load of the machine meets all of them. The ratios within one run count. They are
// taken between neighbors, repetition by repetition, and the table has their median.
//
// Peers written in Go run in this process. Curator and kazoo run in processes of their own,
// which connect and warm up once and then obey commands (see process.go): no figure
// includes the start of a JVM and its compiler. A peer that the machine lacks is missing
// from the table, and a line below the table gives the reason.
//
// # What is in a figure
//
// The clock starts when every contender is ready, and stops after the last release. Every
// session of every peer connects to the same server, or, where a case has many sessions, to
// the servers in turn. The lock's node, and one cycle on it, were made before. Holders only
// check that they are alone.
//
// The requests and bytes of a cycle are counted in a repetition of its own, through a relay
// that reads the frames of ZooKeeper's protocol (see relay.go).
package main
