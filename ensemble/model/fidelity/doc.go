// Package fidelity has tests alone: whether two ensembles behave alike. They run random
// programs on both and compare all the answers.
//
// A [Program] is drawn from a seed: a few sessions, on different servers, that meet at a
// few nodes. [Target.Run] runs it and returns a [Transcript]: each reply, notification
// and closed connection in its order, as text that does not depend on the ensemble, the
// time or earlier programs:
//
//   - Paths are relative to a node of the program's own, "~".
//   - A zxid is "+n", if n of the program's changes were made up to it.
//   - A time is "ok" if it lies within the step that made the change.
//   - A session is named s0, s1, …; passwords are left out.
//   - Children and ephemeral nodes are sorted, and so are the notifications that the end
//     of a session causes: servers keep both in hash tables.
//
// One step runs at a time, and after it each session has its server synchronized. So the
// program alone decides the results that are compared, except the deletions that a server
// makes on its own: of containers, and of nodes whose time to live is over. A run waits
// for those.
//
// [Compare] returns the steps in which two transcripts differ, [Shrink] removes the steps
// that a difference does not need, and [Known] lists the differences between ZooKeeper's
// versions.
package fidelity
