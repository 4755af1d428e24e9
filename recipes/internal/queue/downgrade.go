package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// errWriterGone means that there is no writer to downgrade from.
var errWriterGone = errors.New("the write lock's node is gone")

// Downgrade enqueues a reader right behind the writer that it comes from, under the
// writer's sequence, as Curator 5.5 does: ahead of every writer that queued meanwhile. The
// transaction creates the reader's node only while the writer's node exists, so that no
// other writer can have been admitted before.
func (c *Contender) Downgrade(ctx context.Context, writer Grant) error {
	node := writer.Nodes[0]
	sequence := writer.place.Node[len(session.ProtectedName(writer.place.guid, Write)):]
	path := c.q.dir + "/" + session.ProtectedName(c.guid, Read) + sequence
	c.q.mu.Lock()
	released := c.q.going[writer.place.Node]
	writer.place.downgraded = true // before another contender can hear that the writer's node is gone
	c.q.mu.Unlock()
	if released { // others may have been admitted
		c.q.exit()
		return fmt.Errorf("%w: the write lock is being released", ErrNotHeld)
	}
	err := c.create(ctx, func() (string, error) {
		_, err := c.S.Conn.Multi(
			&zk.CreateRequest{Path: path, Data: c.data, Acl: c.acl, Flags: zk.FlagEphemeral},
			&zk.CheckVersionRequest{Path: node, Version: -1})
		if errors.Is(err, zk.ErrNoNode) {
			c.S.LoseNode(node)
			err = errWriterGone
		}
		return path, err
	})
	if errors.Is(err, errWriterGone) {
		err = fmt.Errorf("%w: %w", ErrLeaseLost, err)
	}
	// The czxid of its node is newer than those of writers that queued meanwhile,
	// and a fence that had seen it would refuse them.
	c.Zxid, c.Sub = writer.Zxid, writer.Sub+1
	return err
}
