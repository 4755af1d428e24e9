// Command bench compares the locks of package recipes with those that others
// ship, and with the least that ZooKeeper lets a lock do, in one run on the same
// three local servers. It prints one table.
//
//	make bench
//	make bench ARGS='-case serial,contended-100 -reps 3'
//
// # What is compared
//
// A case is a shape of work: so many contenders in so many sessions, each of which
// acquires and releases so often. Each peer is a lock under that work. The peers
// of a case take turns within each repetition, starting with another one each
// time, so that whatever else the machine does meets all of them. What counts
// are the ratios within one run; they are taken between neighbors, repetition
// by repetition, and the table has their median.
//
// Peers written in Go run in this process. Curator and kazoo run in processes of
// their own, which connect and warm up once and then obey commands (see
// process.go): the start of a JVM and its compiler are in no figure. A peer that
// the machine lacks is missing from the table, which says why.
//
// # What is in a figure
//
// The clock starts when every contender stands ready, and stops after the last
// release. Every session of every peer talks to the same server, or, where a
// case has many, to the servers in turn. The lock's node, and one cycle on it,
// were made before. Holders do nothing but check that they are alone.
//
// What a cycle sends is counted in a repetition of its own, through a relay that
// reads the frames of ZooKeeper's protocol (see relay.go).
package main
