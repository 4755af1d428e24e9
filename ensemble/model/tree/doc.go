// Package tree is the data of a ZooKeeper server: nodes, their stats and permissions, and
// sessions. A tree changes by transactions alone ([Tree.Apply]), which the leader makes of
// requests ([Prepare]); it has no clock, no goroutine and no randomness of its own, and
// two trees to which the same transactions were applied are the same.
//
// Source: DataTree, PrepRequestProcessor and FinalRequestProcessor of ZooKeeper 3.8 and 3.9.
package tree
