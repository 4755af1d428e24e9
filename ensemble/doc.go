// Package ensemble gives a run its ZooKeeper servers: real ones, never a fake.
//
//   - [StartLocal] starts three of them as processes of this machine, within
//     about a second. They can be killed, paused and restarted ([Processes]),
//     and what they say to each other can be cut ([PeerLinks]). With Byteman they
//     can be made to fail at points of their own code ([Failpoints]).
//   - [External] uses servers that somebody else runs. Nothing about them can be
//     made to fail; clients can still be cut off by links of their own.
//   - Package docker, below this one, runs them in containers.
//
// All are an [Ensemble]: servers to connect to, and a node, [Ensemble.Root],
// under which a run keeps everything.
//
// # Contract
//
// An ensemble that is returned serves: every server takes part in a quorum, which
// is more than an open port. An error says in one line what to install or do;
// match it with errors.Is.
//
// Close leaves nothing behind: no process, no listener, no goroutine, no node in
// somebody else's ZooKeeper. Logs stay where the caller asked for them. Local
// servers do not outlive this process even when it is killed: Linux kills them
// with it, elsewhere a waiting shell does.
//
// Methods may be called from several goroutines. A fault takes effect before the
// method returns; undoing a fault that is not there does nothing.
//
// # Peers and links
//
// With [LocalConfig.Peers] each server dials each other through links of its own,
// one for each ordered pair and port. StartLocal looks into the servers'
// connections and fails rather than return an ensemble in which one reaches
// another around them.
//
// # Asking servers
//
// [Four] sends any four-letter command, all of which local servers allow.
// [Expire] forces a client's session to expire.
package ensemble
