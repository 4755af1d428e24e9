package cluster

import (
	"time"

	"github.com/zkverify/zkverify/ensemble/model"
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

// Tree is what a server's data are, as of its last life; nil before it has begun. It is
// not to be changed, and is valid until something happens.
func (c *Cluster) Tree(id int) *tree.Tree { return c.nodes[id].server.Tree() }
