package ensemble

import (
	"regexp"
	"strconv"
)

// mismatch is the line that a server prints when a transaction has left its tree with
// another digest than the leader's. It prints it once for each tree that it loads
// (DataTree.compareDigest of ZooKeeper 3.6 and newer; ZOOKEEPER-3512). The third number
// of the transaction's header is its zxid.
var mismatch = regexp.MustCompile(`First digest mismatch on txn: -?\d+,-?\d+,(\d+),`)

// Divergences returns the zxids of the transactions at which a server has found that its
// tree is not the leader's. They are in what it printed, as Processes.Output returns it.
// A server that has lost a write, or kept a node that the others have deleted, finds that
// out with the next transaction, and says so even if it gets the leader's tree later on.
func Divergences(output []byte) (zxids []int64) {
	for _, m := range mismatch.FindAllSubmatch(output, -1) {
		if zxid, err := strconv.ParseInt(string(m[1]), 10, 64); err == nil {
			zxids = append(zxids, zxid)
		}
	}
	return zxids
}
