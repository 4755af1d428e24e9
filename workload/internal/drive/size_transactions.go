package drive

import (
	"bytes"
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/lock"
)

// resize changes a size to n by calling set, and returns the transaction that did so if nothing
// else wrote to the size meanwhile, and set wrote only once: then the version of the node is
// one more, and its data is that of n. A server that lags behind can only answer the read
// before set with an older version, which makes the difference larger, and then resize returns
// no transaction. The one change may be that of another client: a set whose request was lost
// finds out, when it sends it again, that another one came in between, and is done.
func resize(c *client.Client, locker lock.SizedLocker, name string, n int, set func() error) (histories.Token, error) {
	sized, ok := locker.(lock.SizeByNode)
	m := sessionReadsOf(c)
	if !ok || m == nil {
		return histories.Token{}, set()
	}
	path, data := sized.SizeNode(name, n)
	read := func(context.Context) (r sizeRead, err error) {
		r.data, r.stat, err = m.conn.Get(path)
		return r, err
	}
	before, known := look(m, read)
	if err := set(); err != nil || !known {
		return histories.Token{}, err
	}
	after, known := look(m, read)
	if !known {
		return histories.Token{}, nil
	}
	return changedBy(before, after, data), nil
}

// sizeRead is one read of the node of a size.
type sizeRead struct {
	data []byte
	stat *zk.Stat
}

// changedBy returns the transaction that wrote data, if it made the only change in between.
func changedBy(before, after sizeRead, data []byte) histories.Token {
	if after.stat.Version != before.stat.Version+1 || !bytes.Equal(after.data, data) {
		return histories.Token{}
	}
	return histories.Token{Zxid: after.stat.Mzxid}
}
