package ensemble

import (
	"regexp"
	"strconv"
	"time"
)

// mismatch matches the line that a server prints when a transaction has left its tree
// with another digest than the leader's. The server prints it once for each tree that it
// loads (DataTree.compareDigest of ZooKeeper 3.6 and newer; ZOOKEEPER-3512). The third
// number of the transaction's header is its zxid.
var mismatch = regexp.MustCompile(`(?m)^(?:(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d{3}) )?.*First digest mismatch on txn: -?\d+,-?\d+,(\d+),`)

// Divergence is a server's report that its tree differs from the leader's.
type Divergence struct {
	Zxid int64     // the transaction at which it was found; an old one if at a start
	At   time.Time // when it printed the report, by its clock; zero if the line has no time
}

// Divergences returns the divergences that a server has reported in its output, which
// Processes.Output returns, with times in UTC as the servers of this package print them.
// A server that has lost a write, or kept a node that the others have deleted, finds that
// out with the next transaction, and reports it even if it gets the leader's tree later
// on.
func Divergences(output []byte) (all []Divergence) {
	for _, m := range mismatch.FindAllSubmatch(output, -1) {
		zxid, err := strconv.ParseInt(string(m[2]), 10, 64)
		if err != nil {
			continue
		}
		at, _ := time.Parse("2006-01-02 15:04:05.000", string(m[1])) // takes a comma as well
		all = append(all, Divergence{zxid, at})
	}
	return all
}
