package workload

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
)

// SizeByNode is implemented by SizedLockers that keep the size in a node, and grant
// permits by the size in force at the transaction of the grant, which is its token.
type SizeByNode interface {
	SizedLocker
	// SizeNode returns the node. SetSize writes to it, in the session of Conn.
	SizeNode(lock string) string
}

// resize changes a size by way of set, and returns the transaction that did so if
// nothing else wrote to the size meanwhile, and set did but once: the version of the
// node is one more then. What a server that lags behind says before can only make it
// more.
func (c *client) resize(locker SizedLocker, lock string, set func() error) (histories.Token, error) {
	sized, ok := locker.(SizeByNode)
	m := c.marks()
	if !ok || m == nil {
		return histories.Token{}, set()
	}
	stat := func(context.Context) (*zk.Stat, error) {
		there, stat, err := m.conn.Exists(sized.SizeNode(lock))
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
