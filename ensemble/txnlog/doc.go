// Package txnlog reads the files of ZooKeeper servers: the logs of transactions and the
// snapshots in the folder version-2 of a server's dataDir and dataLogDir. It reads files
// of ZooKeeper 3.4 and later, verifies their checksums, and writes nothing, so that it
// can read the files of a running server.
//
// The logs are the truth about a lock: the sessions whose transactions created and
// deleted each node, their order, and the end of each session. A transaction in the log
// of one server need not be committed: the last ones of a server may be proposals that
// the next leader takes back.
//
// Sources: FileTxnLog, FileSnap, SnapStream, SerializeUtils and zookeeper.jute of
// ZooKeeper 3.8 and 3.9.
package txnlog
