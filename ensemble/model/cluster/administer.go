package cluster

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/ensemble/model"
	"github.com/zkverify/zkverify/ensemble/model/tree"
)

// At schedules what for an instant, or for now if that has passed. Advance calls it, in
// order with the servers' own events; it may call every method but Advance.
func (c *Cluster) At(at time.Duration, what func()) { c.events.add(max(at, c.now), what) }

// SetClock sets the current time of the wall clocks of all servers.
func (c *Cluster) SetClock(now time.Time) {
	c.config.Server.Start = now.Add(-c.now)
	for _, id := range c.ids {
		c.nodes[id].server.SetClock(c.config.Server.Start)
	}
}

// Expire ends a session as an administrator does. Only the leader can end one; any other
// server does nothing.
func (c *Cluster) Expire(leader int, session int64) {
	c.nodes[leader].step(model.Expire{Session: session})
}

// Disk returns a copy of a server's disk.
func (c *Cluster) Disk(id int) *tree.Disk { return c.nodes[id].disk.Copy() }

// SetDisk replaces the disk of a server whose process does not run.
func (c *Cluster) SetDisk(id int, disk *tree.Disk) error {
	n := c.nodes[id]
	if n.running {
		return fmt.Errorf("server %d runs", id)
	}
	n.disk = disk.Copy()
	return nil
}

// Tree returns a server's data, as of its last life; nil before it has begun. The tree
// must not be changed, and is valid until the next event.
func (c *Cluster) Tree(id int) *tree.Tree { return c.nodes[id].server.Tree() }
