// Package watch keeps the watches of a ZooKeeper server's clients, and finds the watchers
// that an event of the tree concerns.
//
// A watcher is a connection: when it is lost, the server calls [Manager.Drop], and the
// client sets its watches again at its next server ([Manager.Restore]). Notices are in
// the order in which they are sent; watchers that the real server has in the order of a
// HashSet are sorted.
//
// Source: WatchManager and DataTree.setWatches of ZooKeeper 3.8 and 3.9.
package watch
