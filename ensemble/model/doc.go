// Package model implements ZooKeeper's servers as state machines: sessions, the tree,
// watches, elections, the agreement of a quorum, and the protocol that clients speak.
//
// A [Server] has no goroutine, no clock, no network and no randomness. [Server.Step]
// takes one [Input] at one instant and returns the server's reaction as [Action]s;
// [Server.Due] returns the instant at which the server must be woken. Its caller carries
// bytes and messages, decides how long each takes and which are lost, and decides which
// data survives a crash. The same inputs at the same instants give the same actions.
//
// # What is modelled
//
// ZooKeeper 3.8, and 3.9 where the two differ, as an ensemble of voting servers: no
// observers, no reconfiguration, no local sessions, no SASL but DIGEST-MD5, no TLS, no
// request throttling. A server answers Unimplemented to requests that it does not know,
// as real ones do.
//
// Each package below this one models one part: the encoding on the wire (wire), the server's
// data and its disk (tree), and what clients see (service). The elections, the agreement and the
// expiry of sessions are here.
package model
