// Package tree models the data of a ZooKeeper server: nodes, their stats and permissions,
// and sessions. A tree changes by transactions alone ([Tree.Apply]), which the leader
// makes of requests ([Prepare]); it has no clock, no goroutine and no randomness of its
// own, and two trees with the same transactions are the same.
//
// It makes the decisions of the real server: the error of a request to which several
// apply, the names of sequential nodes, the fields of a stat, the permissions of clients.
// Where 3.8 and 3.9 differ, [Release] selects one. It leaves to the server all that needs
// a connection or a clock: sessions that have expired or moved, watches, sync. Three
// things differ from the real server on purpose:
//
//   - names of children, and a session's ephemeral nodes that are deleted at its end, are
//     sorted. The real server has them in the order of a Java HashSet, which no client may
//     rely on.
//   - quotas are not kept: nodes below /zookeeper/quota are ordinary ones.
//   - a request is prepared on a tree to which all earlier ones were applied. The real
//     leader keeps the changes that are under way aside, and these know less than a tree:
//     while the end of a session is under way, the parent of its ephemeral nodes still
//     counts them as children (a delete of it is refused with NotEmpty); and while a new
//     ACL is under way, requests are held to the old one.
//
// Source: DataTree, PrepRequestProcessor and FinalRequestProcessor of ZooKeeper 3.8 and 3.9.
package tree
