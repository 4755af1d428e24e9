package recipes

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// ReadWriteMutex admits any number of readers or one writer: Curator's
// InterProcessReadWriteLock, on the same path. It is fair: a reader that comes
// after a waiting writer waits for it.
//
// Both sides are reentrant. Whoever holds the write lock may acquire the read
// lock, with the context of its lease or by its owner, and has it at once; when
// it then releases the write lock it goes on reading, and writers that queued
// meanwhile stay behind it (CURATOR-621; Curator before 5.5 admits them). The
// read lock is granted by a node that exists only if the writer's did, never by
// what this process remembers of a session that may be gone. The other way is
// closed: a reader that asks for the write lock would wait for itself, and is
// refused with [ErrUpgrade] at once.
//
// Tokens: every writer's is greater than those of all leases granted before it.
// A reader's says when it queued; one that came by a downgrade has its writer's,
// with the next greater Sub.
//
// Loss, cancel, timeout and misuse: as with [Mutex].
type ReadWriteMutex struct {
	read, write Mutex
}

// NewReadWriteMutex returns the read-write lock at path, an absolute ZooKeeper
// path that should have no children but contenders. Missing parents are created
// as containers.
func NewReadWriteMutex(client *Client, path string, options ...LockOption) *ReadWriteMutex {
	side := Mutex{client: client, path: client.resolve(path), kinds: readWriteKinds, cfg: newLockConfig(options)}
	side.cfg.handoff, side.cfg.rule = 0, nil
	rw := &ReadWriteMutex{read: side, write: side}
	rw.read.kind, rw.read.rule = readKind, shared
	rw.write.kind, rw.write.rule = writeKind, exclusive
	return rw
}

// Read returns the side that any number may hold at a time.
func (rw *ReadWriteMutex) Read() *Mutex { return &rw.read }

// Write returns the side that excludes everybody else.
func (rw *ReadWriteMutex) Write() *Mutex { return &rw.write }

// downgrade enqueues a reader right behind the writer that it comes from, under
// the writer's sequence, as Curator 5.5 does: ahead of every writer that queued
// meanwhile. The transaction makes it only while the writer's node is there, so
// that no other writer can have been admitted before.
func (c *contender) downgrade(ctx context.Context, writer claim) error {
	node := writer.nodes[0]
	sequence := writer.place.node[len(protectedName(writer.place.guid, writeKind)):]
	path := c.q.dir + "/" + protectedName(c.guid, readKind) + sequence
	c.q.mu.Lock()
	released := c.q.going[writer.place.node]
	writer.place.downgraded = true // before anybody can hear that the writer has gone
	c.q.mu.Unlock()
	if released { // others may have been admitted
		c.s.leaveLine(c.q)
		return fmt.Errorf("%w: the write lock is being released", ErrNotHeld)
	}
	err := c.create(ctx, func() (string, error) {
		_, err := c.s.conn.Multi(
			&zk.CreateRequest{Path: path, Data: c.data, Acl: c.acl, Flags: zk.FlagEphemeral},
			&zk.CheckVersionRequest{Path: node, Version: -1})
		if errors.Is(err, zk.ErrNoNode) {
			c.s.loseNode(node)
			err = fmt.Errorf("%w: the write lock's node is gone", ErrLeaseLost)
		}
		return path, err
	})
	// The czxid of its node is newer than those of writers that queued meanwhile,
	// and a fence that had seen it would refuse them.
	c.token = Token{Zxid: writer.token.Zxid, Sub: writer.token.Sub + 1}
	return err
}
