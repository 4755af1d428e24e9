package drive

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/lock"
)

// resize changes a size by way of set, and returns the transaction that did so if
// nothing else wrote to the size meanwhile, and set did but once: the version of the
// node is one more then. What a server that lags behind says before can only make it
// more.
func resize(c *client.Client, locker lock.SizedLocker, name string, set func() error) (histories.Token, error) {
	sized, ok := locker.(lock.SizeByNode)
	m := sessionReadsOf(c)
	if !ok || m == nil {
		return histories.Token{}, set()
	}
	stat := func(context.Context) (*zk.Stat, error) {
		there, stat, err := m.conn.Exists(sized.SizeNode(name))
		if err == nil && !there {
			err = zk.ErrNoNode
		}
		return stat, err
	}
	before, known := look(m, stat)
	if err := set(); err != nil || !known {
		return histories.Token{}, err
	}
	after, known := look(m, stat)
	if !known || after.Version != before.Version+1 {
		return histories.Token{}, nil
	}
	return histories.Token{Zxid: after.Mzxid}, nil
}
