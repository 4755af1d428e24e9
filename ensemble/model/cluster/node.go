package cluster

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble/model"
	"github.com/zkverify/zkverify/ensemble/model/service"
	"github.com/zkverify/zkverify/ensemble/model/tree"
)

// node is a server's machine: its disk, and its process if that runs.
type node struct {
	cluster   *Cluster
	id        int
	disk      *tree.Disk
	clock     clock
	server    *model.Server
	running   bool
	paused    bool
	lateUntil time.Duration // its timers are late until then, after a pause
	life      int           // number of its starts
	waiting   []model.Input
	clients   []model.ConnID
	streams   map[model.PeerID]*stream

	dueAt time.Duration // see due
	asked bool          // dueAt is the server's current answer
}

func (n *node) start() error {
	config := n.cluster.config.Server
	config.ID, config.Servers = n.id, n.cluster.ids
	if n.id == n.cluster.ids[len(n.cluster.ids)-1] {
		config.Reconnected = n.cluster.config.Reconnected
	}
	server, err := model.New(config, n.disk)
	if err != nil {
		return err
	}
	server.StepClock(n.clock.stepped)
	n.asked, n.lateUntil = false, 0
	n.server, n.running, n.paused, n.streams = server, true, false, map[model.PeerID]*stream{}
	n.life++
	return nil
}

// step passes an input to the server, now or when it is resumed, and carries out the
// server's actions.
func (n *node) step(in model.Input) {
	if !n.running {
		return
	}
	if n.paused {
		n.waiting = append(n.waiting, in)
		return
	}
	n.asked = false
	for _, a := range n.server.Step(n.clock.local(n.cluster.now), in) {
		n.carryOut(a)
	}
}

func (n *node) carryOut(a model.Action) {
	c := n.cluster
	switch a := a.(type) {
	case model.ToClient:
		n.answer(a.Action)
	case model.Sync:
		life := n.life
		c.At(c.now+c.some(c.config.SyncTime), func() {
			if n.life == life {
				n.step(model.Synced(a))
			}
		})
	case model.Print:
		if p, wanted := c.clients.(Printer); wanted {
			p.Print(n.id, a.Line)
		}
	case model.Vote:
		// The server with the greater number keeps the connection that it has opened.
		c.Link(max(n.id, a.To), min(n.id, a.To)).vote(n, c.nodes[a.To], a.Notification)
	case model.Dial:
		c.Link(n.id, a.To).dial(n, c.nodes[a.To])
	case model.Say:
		if s := n.streams[a.Peer]; s != nil {
			s.send(n, a.Message)
		}
	case model.Hang:
		if s := n.streams[a.Peer]; s != nil {
			delete(n.streams, a.Peer)
			s.hang(n)
		}
	}
}

func (n *node) forget(conn model.ConnID) {
	n.clients = slices.DeleteFunc(n.clients, func(other model.ConnID) bool { return other == conn })
}

// kill ends the process: the system closes its connections.
func (n *node) kill() {
	n.running, n.paused, n.waiting = false, false, nil
	n.life++
	for _, conn := range n.clients {
		n.cluster.clients.Hangup(n.id, conn)
	}
	n.clients = nil
	for _, id := range sorted(n.streams) {
		n.streams[id].hang(n)
	}
	n.streams = nil
	n.disk.Crash(n.cluster.rand.IntN(4))
}

// wakesWithin is the most by which the timers of a server are late after a pause. A
// server receives messages and waits for instants in several threads, so that a leader
// may answer before it pings.
const wakesWithin = 8 * time.Millisecond

func (n *node) resume() {
	if !n.paused {
		return
	}
	n.paused = false
	n.lateUntil = n.cluster.now + time.Duration(n.cluster.rand.Int64N(int64(wakesWithin)))
	waiting := n.waiting
	n.waiting = nil
	for _, in := range waiting {
		n.step(in)
	}
}

// answer carries out a server's action for a client.
func (n *node) answer(a service.Action) {
	switch a := a.(type) {
	case service.Send:
		n.cluster.clients.Reply(n.id, a.Conn, a.Data)
	case service.Close:
		n.forget(a.Conn)
		n.cluster.clients.Hangup(n.id, a.Conn)
	}
}
