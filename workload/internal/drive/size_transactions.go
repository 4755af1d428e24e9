package drive

import (
	"bytes"
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/lock"
)

// resizes begins to change a size to n, which its caller does. It returns a function that returns
// the transaction of a change that succeeded, if nothing else wrote to the size meanwhile, and the
// change wrote only once: then the version of the node is one more, and its data is that of n. A
// server that lags behind can only answer the first read with an older version, which makes the
// difference larger, and then there is no transaction. The one change may be that of another client:
// a set whose request was lost finds out, when it sends it again, that another one came in between,
// and is done.
func resizes(c *client.Client, locker lock.SizedLocker, name string, n int) (resized func(error) histories.Token) {
	none := func(error) histories.Token { return histories.Token{} }
	sized, ok := locker.(lock.SizeByNode)
	m := sessionReadsOf(c)
	if !ok || m == nil {
		return none
	}
	path, data := sized.SizeNode(name, n)
	read := func(context.Context) (r sizeRead, err error) {
		r.data, r.stat, err = m.conn.Get(path)
		return r, err
	}
	before, known := look(m, read)
	if !known {
		return none
	}
	return func(err error) histories.Token {
		if err != nil {
			return histories.Token{}
		}
		after, known := look(m, read)
		if !known {
			return histories.Token{}
		}
		return changedBy(before, after, data)
	}
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
