package zktest

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/cluster"
	"github.com/zkverify/zkverify/ensemble/model/tree"
)

// check fails the test if there is no such server.
func (e *Ensemble) check(server int) {
	e.tb.Helper()
	if n := len(e.live.Cluster.IDs()); server < 1 || server > n {
		e.tb.Fatalf("zktest: no server %d among %d", server, n)
	}
}

// change changes the state of a server.
func (e *Ensemble) change(server int, change func(*cluster.Cluster) error) {
	e.tb.Helper()
	e.check(server)
	var err error
	e.do(func() { err = change(e.live.Cluster) })
	if err != nil {
		e.tb.Fatalf("zktest: %v", err)
	}
}

// Leader returns the number of the server that leads. If none leads, it waits for a leader, and
// fails the test if there is none after a while. If an old leader does not know yet that it has
// been replaced, Leader returns the newer one.
func (e *Ensemble) Leader() (server int) {
	e.tb.Helper()
	e.await("a server leads", func() bool {
		server = e.leader()
		return server != 0
	})
	return server
}

// leader returns the leader, or 0 if there is none. The engine is locked.
func (e *Ensemble) leader() (server int) {
	c, last := e.live.Cluster, int64(-1)
	for _, id := range c.IDs() {
		if zxid := c.LastZxid(id); c.Mode(id) == "leader" && zxid > last {
			server, last = id, zxid
		}
	}
	return server
}

// Kill ends a server's process: its connections are closed, new ones are refused, and a random
// part of the data that it had not synced to its disk is lost. A killed server stays down until
// Restart.
func (e *Ensemble) Kill(server int) {
	e.tb.Helper()
	e.change(server, func(c *cluster.Cluster) error {
		c.Kill(server)
		return nil
	})
}

// Restart starts a server that was killed, with the data on its disk. It serves again once it
// leads or follows a leader, which takes some time.
func (e *Ensemble) Restart(server int) {
	e.tb.Helper()
	e.change(server, func(c *cluster.Cluster) error { return c.Restart(server) })
}

// Backup is a copy of a server's disk.
type Backup struct{ disk *tree.Disk }

// Backup copies a server's disk.
func (e *Ensemble) Backup(server int) (b Backup) {
	e.tb.Helper()
	e.change(server, func(c *cluster.Cluster) error {
		b.disk = c.Disk(server)
		return nil
	})
	return b
}

// Restore replaces the disk of a server that was killed by a backup; the zero Backup is an empty
// disk. If a majority of the servers restart with disks that lack confirmed transactions, the
// ensemble has lost data: clients have seen transactions that the servers no longer have.
func (e *Ensemble) Restore(server int, b Backup) {
	e.tb.Helper()
	if b.disk == nil {
		b.disk = new(tree.Disk)
	}
	e.change(server, func(c *cluster.Cluster) error { return c.SetDisk(server, b.disk) })
}

// Pause stops a server's process: its connections stay, new ones are accepted, and no request is
// answered.
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

// Resume continues a paused server, which then handles the messages that have come meanwhile. It
// has no effect on other servers.
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

// Heal ends the faults of all links, between servers and of all clients. It neither resumes nor
// restarts a server.
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
// its ephemeral nodes are gone. It waits for a leader that serves. It has no effect on a session
// that has ended already.
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

// Advance lets time pass for the servers alone, at once: to a client it looks as if its process
// had been paused. Sessions whose timeout passes expire, since no client is heard from meanwhile;
// servers elect leaders. In a bubble, time.Sleep lets time pass for servers and clients.
func (e *Ensemble) Advance(d time.Duration) {
	e.live.Advance(d)
}
