// Package ensemble gives a run its ZooKeeper servers: real ones, never a fake.
//
//   - [StartLocal] starts three of them as processes of this machine, within
//     about a second. They can be killed, paused and restarted ([Processes]),
//     and the connections between them can be cut ([PeerLinks]). With Byteman they
//     can be made to fail at points of their own code ([Failpoints]).
//   - [External] uses servers that run already. They cannot be made to fail;
//     clients can still be cut off by links of their own.
//   - Package docker, below this one, runs them in containers.
//
// Each of them is an [Ensemble]: servers to connect to, and a node, [Ensemble.Root],
// under which a run keeps all its nodes.
//
// # Contract
//
// An ensemble that is returned serves: every server takes part in a quorum, not only
// listens on its port. The text of an error is one line that says what to install or do;
// match errors with errors.Is.
//
// Close leaves nothing behind: no process, no listener, no goroutine, no node in the
// ZooKeeper of [External]. Logs stay in the directory that the caller chose. Local
// servers do not outlive this process even when it is killed: Linux kills them with it,
// elsewhere a waiting shell does.
//
// Methods may be called from several goroutines. A fault takes effect before the method
// returns; undoing a fault that is not in force does nothing.
//
// # Peers and links
//
// With [LocalConfig.Peers] each server dials each other server through links of its own,
// one for each ordered pair and port. StartLocal inspects the servers' connections and
// fails if a server reaches another one around the links.
//
// # Asking servers
//
// [Four] sends any four-letter command, all of which local servers allow.
// [Expire] forces a client's session to expire.
package ensemble
