package cluster

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/ensemble/model"
	"github.com/zkverify/zkverify/ensemble/model/storage"
	"github.com/zkverify/zkverify/ensemble/model/tree"
)

// At has something happen at an instant, or now if that has passed. It happens in
// Advance, in order with what the servers do, and may call everything but Advance.
func (c *Cluster) At(at time.Duration, what func()) { c.events.add(max(at, c.now), what) }

// SetClock says what time it is now by the wall clock of all servers.
func (c *Cluster) SetClock(now time.Time) {
	c.config.Server.Start = now.Add(-c.now)
	for _, id := range c.ids {
		c.nodes[id].server.SetClock(c.config.Server.Start)
	}
}

// Expire ends a session as an administrator does. Only the leader can; any other server
// does nothing.
func (c *Cluster) Expire(leader int, session int64) {
	c.nodes[leader].step(model.Expire{Session: session})
}

// Disk is what is on a server's disk.
func (c *Cluster) Disk(id int) *storage.Disk { return c.nodes[id].disk.Copy() }

// SetDisk puts other data on the disk of a server whose process does not run.
func (c *Cluster) SetDisk(id int, disk *storage.Disk) error {
	n := c.nodes[id]
	if n.running {
		return fmt.Errorf("server %d runs", id)
	}
	n.disk = disk.Copy()
	return nil
}

// Tree is what a server's data are, as of its last life; nil before it has begun. It is
// not to be changed, and is valid until something happens.
func (c *Cluster) Tree(id int) *tree.Tree { return c.nodes[id].server.Tree() }
