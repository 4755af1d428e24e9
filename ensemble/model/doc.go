// Package model is ZooKeeper's servers as state machines: sessions, the tree, watches,
// elections, the agreement of a quorum, and the protocol that clients speak.
//
// A [Server] has no goroutine, no clock, no network and no randomness. [Server.Step]
// takes one [Input] at one instant and returns what the server does about it, as
// [Action]s; [Server.Due] says when it wants to be woken. Whoever drives it carries
// bytes and messages, decides how long each takes and which are lost, and says what
// survives a crash. The same inputs at the same instants give the same actions.
//
// # What is modelled
//
// ZooKeeper 3.8, and 3.9 where the two differ, as an ensemble of voting servers: no
// observers, no reconfiguration, no local sessions, no SASL but DIGEST-MD5, no TLS, no request
// throttling. A server answers what it does not know with Unimplemented, as real ones do.
//
// Packages below this one know one thing each: what is on the wire (wire), what a
// server's data are (tree), who watches them (watch), what is on disk (storage), who
// leads (election), and when sessions end (sessions).
package model
