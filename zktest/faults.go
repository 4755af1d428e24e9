package zktest

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/cluster"
	"github.com/zkverify/zkverify/ensemble/model/storage"
)

// check fails the test if there is no such server.
func (e *Ensemble) check(server int) {
	e.tb.Helper()
	if n := len(e.live.Cluster.IDs()); server < 1 || server > n {
		e.tb.Fatalf("zktest: no server %d among %d", server, n)
	}
}

// change does something to a server.
func (e *Ensemble) change(server int, change func(*cluster.Cluster) error) {
	e.tb.Helper()
	e.check(server)
	var err error
	e.do(func() { err = change(e.live.Cluster) })
	if err != nil {
		e.tb.Fatalf("zktest: %v", err)
	}
}

// Leader returns the number of the server that leads. Without one it waits for it, and
// fails the test if none comes. Of two, one of which does not know yet that it leads no
// more, the newer leads.
func (e *Ensemble) Leader() (server int) {
	e.tb.Helper()
	e.await("a server leads", func() bool {
		server = e.leader()
		return server != 0
	})
	return server
}

// leader is the leader, 0 for none. The engine is locked.
func (e *Ensemble) leader() (server int) {
	c, last := e.live.Cluster, int64(-1)
	for _, id := range c.IDs() {
		if zxid := c.LastZxid(id); c.Mode(id) == "leader" && zxid > last {
			server, last = id, zxid
		}
	}
	return server
}

// Kill ends a server's process: its connections are closed, new ones are refused, and of
// what it had not synced to its disk a random part is lost. A dead server stays dead.
func (e *Ensemble) Kill(server int) {
	e.tb.Helper()
	e.change(server, func(c *cluster.Cluster) error {
		c.Kill(server)
		return nil
	})
}

// Restart starts a server that was killed, on its disk. It serves when it follows a
// leader or leads, which takes some of the servers' time.
func (e *Ensemble) Restart(server int) {
	e.tb.Helper()
	e.change(server, func(c *cluster.Cluster) error { return c.Restart(server) })
}

// Backup is what was on a server's disk.
type Backup struct{ disk *storage.Disk }

// Backup copies what is on a server's disk.
func (e *Ensemble) Backup(server int) (b Backup) {
	e.tb.Helper()
	e.change(server, func(c *cluster.Cluster) error {
		b.disk = c.Disk(server)
		return nil
	})
	return b
}

// Restore puts a backup in place of what is on the disk of a server that was killed; with the
// zero Backup nothing is on it. Servers that are restarted with less on a majority of their disks
// than they have confirmed have lost data: their clients have seen transactions that they have
// not.
func (e *Ensemble) Restore(server int, b Backup) {
	e.tb.Helper()
	if b.disk == nil {
		b.disk = new(storage.Disk)
	}
	e.change(server, func(c *cluster.Cluster) error { return c.SetDisk(server, b.disk) })
}

// Pause stops a server's process: its connections stay, new ones are accepted, and
// nothing is answered.
func (e *Ensemble) Pause(server int) {
	e.tb.Helper()
	e.change(server, func(c *cluster.Cluster) error {
		if !c.Running(server) {
			return fmt.Errorf("server %d does not run", server)
		}
		c.Pause(server)
		return nil
	})
}

// Resume lets a paused server go on with what has come meanwhile, and leaves any other
// as it is.
func (e *Ensemble) Resume(server int) {
	e.tb.Helper()
	e.change(server, func(c *cluster.Cluster) error {
		c.Resume(server)
		return nil
	})
}

// Isolate cuts a server off from the other servers. Clients still reach it: it serves
// them until it finds out, after 5 ticks at the latest.
func (e *Ensemble) Isolate(server int) {
	e.tb.Helper()
	e.change(server, func(c *cluster.Cluster) error {
		for _, other := range c.IDs() {
			if other != server {
				cut := cluster.Condition{DropRequests: true, DropReplies: true}
				c.Link(server, other).Set(cut)
				c.Link(other, server).Set(cut)
			}
		}
		return nil
	})
}

// Heal makes every link whole: those between servers, and those of all clients. It
// neither resumes nor restarts a server.
func (e *Ensemble) Heal() {
	clients := e.allClients()
	e.do(func() {
		for _, from := range e.live.Cluster.IDs() {
			for _, to := range e.live.Cluster.IDs() {
				if from != to {
					e.live.Cluster.Link(from, to).Set(cluster.Condition{})
				}
			}
		}
		for _, c := range clients {
			for _, l := range c.links {
				l.Set(cluster.Condition{})
			}
		}
	})
}

// Expire ends a session without a warning, as an administrator does, and returns when
// its ephemeral nodes are gone. It waits for a leader that serves. A session that has
// ended already is left alone.
func (e *Ensemble) Expire(session int64) {
	e.tb.Helper()
	asked := 0
	e.await(fmt.Sprintf("session %#x ends", session), func() bool {
		leader := e.leader()
		if leader == 0 {
			return false
		}
		if _, there := e.live.Cluster.Tree(leader).Session(session); !there {
			return true
		}
		if asked != leader {
			asked = leader
			e.live.Cluster.Expire(leader, session)
		}
		return false
	})
}

// Advance lets time pass for the servers alone, at once: for a client it is as if its
// process had been paused. Sessions that are due expire, since nobody is heard of
// meanwhile; servers elect leaders. In a bubble, time.Sleep lets time pass for everybody.
func (e *Ensemble) Advance(d time.Duration) {
	e.live.Advance(d)
}
