// Package links gives every pair of hosts a network link of its own, through
// Toxiproxy, that can be cut, slowed and healed.
//
// A [Network] is made by [InProcess], which runs Toxiproxy inside this process,
// or by [Remote], which drives a Toxiproxy server through its HTTP API. Both
// keep the same promises:
//
//   - A link is in one condition at a time: healthy, slowed (delayed, throttled
//     or sliced), stalled, truncated, or cut in one of the ways of [Cut]. A new condition replaces the one before it, and asking
//     for the condition that the link is in already does nothing.
//   - A method returns when the change is in force, or with an error, at the
//     latest when its context ends; without a deadline in the context it takes
//     a few seconds at most.
//   - A cut affects both existing and new connections.
//   - Leaving a cut closes the connections that lived through it: bytes are
//     missing from their streams, so carrying on would hand a garbled stream to
//     both ends. Slowing or stalling a link, or ending that, leaves connections alone.
//   - A link keeps its address until it is closed, in every condition.
//
// # How a link heals
//
// Toxiproxy can take its toxics off a live connection, but it waits for the connection to
// drain, which never ends if the receiver has stopped reading: it was seen to hang for
// over a minute, and to block its proxy for ever after. So a link that leaves a cut drops
// its proxy, connections and all, and opens a new one on the same port. A link does the
// same when changing a live connection takes longer than a second; its connections are
// then closed although the new condition alone would have kept them.
//
// This needs the port to be free while the link is down. Links listen below the range of
// ports that the kernel gives to outgoing connections, so no connection can take it.
//
// # How a connection ends
//
// Toxiproxy stops reading for a connection after its first failed write, and its
// limit_data and reset_peer toxics stop reading when they have closed it. Data that is on
// its way then waits in goroutines for ever. InProcess gives Toxiproxy's toxics a writer
// that does not fail, and replaces those two toxics by ones that read the rest. A
// Toxiproxy server keeps such goroutines until it ends.
//
// # Limits
//
// Latencies are whole milliseconds. Resets are real ones, RST, for connections that come
// after the cut; existing connections are closed by their next request. A link carries
// TCP only. Toxiproxy connects to the upstream for each connection it accepts, so a
// client that dials a link whose upstream is gone is accepted and then closed, not
// refused; [Down] does refuse.
package links
