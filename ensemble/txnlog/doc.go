// Package txnlog reads what ZooKeeper servers keep on disk: the logs of transactions and
// the snapshots in the folder version-2 of a server's dataDir and dataLogDir. It reads
// files of ZooKeeper 3.5 and later, verifies their checksums, and writes nothing, so that
// it can read the files of a server that runs.
//
// The logs are the truth about a lock: which session's transaction created and deleted
// which node, in which order, and when each session ended. A transaction in the log of
// one server need not be committed: the last ones of a server may be proposals that the
// next leader takes back.
//
// Sources: FileTxnLog, FileSnap, SnapStream, SerializeUtils and zookeeper.jute of
// ZooKeeper 3.8 and 3.9.
package txnlog
