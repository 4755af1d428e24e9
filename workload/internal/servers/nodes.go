package servers

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/lock"
)

// Ephemerals lists the ephemeral nodes at and below p: the nodes of every kind of lock are
// ephemeral.
func (o *Observer) Ephemerals(p string) ([]string, error) {
	nodes, err := o.Nodes(p)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(nodes, func(_ string, stat *zk.Stat) bool { return stat.EphemeralOwner == 0 })
	return slices.Sorted(maps.Keys(nodes)), nil
}

// Nodes returns the nodes at and below p.
func (o *Observer) Nodes(p string) (map[string]*zk.Stat, error) {
	if _, err := o.conn.Sync(p); err != nil {
		return nil, err
	}
	out := make(map[string]*zk.Stat)
	var walk func(string) error
	walk = func(p string) error {
		children, stat, err := o.conn.Children(p)
		if errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		if err != nil {
			return err
		}
		out[p] = stat
		for _, child := range children {
			if err := walk(path.Join(p, child)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(p); err != nil {
		return nil, err
	}
	return out, nil
}

// errShared is returned when it is not known which node belongs to a lease.
var errShared = errors.New("the session has nodes of several leases that no token tells apart")

// errGone is returned when a node was gone before it could be deleted.
var errGone = errors.New("the node was gone already")

// DeleteNode deletes the node of a session below dir, quickly: most locks are held for a moment
// only.
func (o *Observer) DeleteNode(ctx context.Context, at journal.Stand, session int64) error {
	dir := path.Join(o.LockRoot(), at.Lock)
	_, err := lock.Await(ctx, o.connection, func() (struct{}, error) {
		node, err := at.Node, error(nil)
		if node == "" {
			node, err = o.nodeOf(dir, session, at)
		}
		if err == nil {
			err = o.conn.Delete(node, -1)
		}
		if errors.Is(err, zk.ErrNoNode) {
			err = errGone
		}
		return struct{}{}, err
	}, nil)
	return err
}

// nodeOf returns the node of a session below dir that a transaction has created; of several, as
// of permits that were acquired at once, the last: a client that watches only the first does
// not see it go. If the transaction created more, for other leases, it is not known which one
// belongs to this lease; nor if a lease has no token, and the session has other nodes there
// than those of one lease.
func (o *Observer) nodeOf(dir string, session int64, at journal.Stand) (string, error) {
	zxid, n := at.Token.Zxid, max(1, at.Permits)
	nodes, err := o.Nodes(dir)
	if err != nil {
		return "", err
	}
	var made []string
	for p, stat := range nodes {
		if stat.EphemeralOwner == session && (zxid == 0 || stat.Czxid == zxid) {
			made = append(made, p)
		}
	}
	switch {
	case len(made) < n:
		return "", errGone
	case len(made) > n:
		return "", errShared
	}
	sequence := func(node string) string { return node[max(0, len(node)-10):] }
	return slices.MaxFunc(made, func(a, b string) int { return strings.Compare(sequence(a), sequence(b)) }), nil
}
