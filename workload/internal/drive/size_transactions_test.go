package drive

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
)

// In virtual time, seed 6000477 of the plan edges: a Set of 1 was lost, another client set 5,
// and the Set returned the transaction of the other client.
func TestTheTransactionOfASizeIsThatOfItsOwnChange(t *testing.T) {
	at := func(version int32, mzxid int64, data string) sizeRead {
		return sizeRead{[]byte(data), &zk.Stat{Version: version, Mzxid: mzxid}}
	}
	before := at(3, 70, "4")
	for name, c := range map[string]struct {
		after sizeRead
		zxid  int64
	}{
		"it made the one change":                 {at(4, 71, "1"), 71},
		"another one made it":                    {at(4, 71, "5"), 0},
		"there were two":                         {at(5, 72, "1"), 0},
		"there was none, as a server says later": {at(3, 70, "4"), 0},
	} {
		if got := changedBy(before, c.after, []byte("1")); got != (histories.Token{Zxid: c.zxid}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
