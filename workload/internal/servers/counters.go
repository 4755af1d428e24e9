package servers

import (
	"context"
	"path"

	"github.com/zkverify/zkverify/workload/lock"
)

// GuardedNode returns the path of the counter in ZooKeeper that a lock guards.
func (o *Observer) GuardedNode(name string) string { return path.Join(o.Root, "guarded", name) }

// SharedNode returns the path of the node that those write to who hold the lock together.
func (o *Observer) SharedNode(name string) string { return o.GuardedNode(name) + "-shared" }

// PutCounters creates the nodes in ZooKeeper that locks guard, with the value 0.
func (o *Observer) PutCounters(nodes []string) error {
	if err := o.Create(path.Dir(o.GuardedNode("any"))); err != nil {
		return err
	}
	for _, node := range nodes {
		if err := o.Create(node); err != nil {
			return err
		}
		if _, err := o.conn.Set(node, []byte("0"), -1); err != nil {
			return err
		}
	}
	return nil
}

// Value returns the number of writes to a counter as of the time of the call, also if two of them
// wrote the same value. It writes next to it first, and a majority has to agree to that; then the
// server that has answered has all writes that came before.
func (o *Observer) Value(ctx context.Context, node string) (int64, error) {
	return lock.Await(ctx, o.connection, func() (int64, error) {
		if _, err := o.conn.Set(path.Dir(node), nil, -1); err != nil {
			return 0, err
		}
		_, stat, err := o.conn.Get(node)
		if err != nil {
			return 0, err
		}
		return int64(stat.Version) - 1, nil // PutCounters has written once
	}, nil)
}

// Write makes the smallest possible write, to a node that no client reads.
func (o *Observer) Write(ctx context.Context) error {
	return lock.AwaitDone(ctx, o.connection, func() error {
		_, err := o.conn.Set(o.Root, nil, -1)
		return err
	}, nil)
}

// WhenCreated calls then with the transaction that created a node, in a goroutine of its own,
// if the node exists.
func (o *Observer) WhenCreated(node string, then func(czxid int64)) {
	// Ends when the servers answer, at the latest when the observer is closed.
	o.wg.Go(func() {
		if there, stat, err := o.conn.Exists(node); err == nil && there {
			then(stat.Czxid)
		}
	})
}
