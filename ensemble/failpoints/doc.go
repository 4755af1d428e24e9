// Package failpoints makes a ZooKeeper server fail at a point of its own code: before it
// syncs its transaction log, in the middle of a sync with its leader, and the like.
//
//   - A [Point] is a place in ZooKeeper's code.
//   - A [Failpoint] is what happens there: a delay, an exception, or the end of the JVM.
//     Its Script is a rule of Byteman.
//   - An [Agent] loads and removes rules while the server runs. The server's JVM must have
//     been started with [JVMFlag].
//
// Each time a server comes to a failpoint it prints a line, which [Reached] counts. A
// failpoint that the server does not reach has no effect.
package failpoints
