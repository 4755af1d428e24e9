package cluster

import (
	"maps"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble/model"
	"github.com/zkverify/zkverify/ensemble/model/election"
)

// Condition is what a link does, be it of servers or of a client, which is then the one
// that dials. The zero condition is a healthy link.
type Condition struct {
	Refuse       bool          // connections are closed, new ones are refused
	DropRequests bool          // what the server that dials says is lost
	DropReplies  bool          // what the other one says is lost
	HoldRequests bool          // what the server that dials says is held back
	HoldReplies  bool          // what the other one says is held back
	Reset        bool          // connections are accepted, and closed with their first message
	Latency      time.Duration // on top of the cluster's, each way
	Jitter       time.Duration // up to so much of it, more or less
	RepliesOnly  bool          // the latency is of what the server that is dialed says
	Rate         int           // bytes a second, each way; 0 for no limit
	Slice        int           // bytes of a piece, in which everything arrives; 0 for no pieces
	Pause        time.Duration // behind each piece
	Left         int           // bytes of the server that is dialed until the connection is closed; 0 for no limit
}

// message is how long a message between servers is taken to be, in bytes.
const message = 100

// transmission is how long a message between servers takes besides the latency.
func (c Condition) transmission() (d time.Duration) {
	if c.Rate > 0 {
		d = message * time.Second / time.Duration(c.Rate)
	}
	if c.Slice > 0 {
		d += c.Pause * time.Duration((message+c.Slice-1)/c.Slice)
	}
	return d
}

// Link carries the connections that a server opens to another.
type Link struct {
	cluster   *Cluster
	from, to  int
	condition Condition
	open      map[*stream]bool
	votesAt   [2]time.Duration // when the last vote arrives, each way
	votes     Backlog
}

// Set changes what the link does. Connections of which one direction has lost something, and
// would carry something again, are closed. What was held back is sent at once, in order.
func (l *Link) Set(c Condition) {
	l.condition = c
	for _, s := range l.streams() {
		if c.Refuse || s.lost[0] && !c.DropRequests || s.lost[1] && !c.DropReplies {
			s.cut()
			continue
		}
		s.backlog.Release(c)
	}
	l.votes.Release(c)
}

// Backlog is what a link has held back: what sends it, in order, of the side that dials and
// of the other one.
type Backlog [2][]func()

// Send sends something of a side (0 for the one that dials, 1 for the other), or keeps it
// as long as condition c holds it back.
func (b *Backlog) Send(c Condition, way int, send func()) {
	if c.holds(way) {
		b[way] = append(b[way], send)
		return
	}
	send()
}

// Release sends what condition c does not hold back.
func (b *Backlog) Release(c Condition) {
	for way, held := range b {
		if c.holds(way) {
			continue
		}
		b[way] = nil
		for _, send := range held {
			send()
		}
	}
}

func (c Condition) holds(way int) bool {
	return way == 0 && c.HoldRequests || way == 1 && c.HoldReplies
}

// Condition is what the link does.
func (l *Link) Condition() Condition { return l.condition }

// streams are the open connections, in the order in which they were opened.
func (l *Link) streams() []*stream {
	return slices.SortedFunc(maps.Keys(l.open), func(a, b *stream) int { return int(a.number - b.number) })
}

// drops reports whether what a server says is lost.
func (l *Link) drops(from int) bool {
	if from == l.from {
		return l.condition.DropRequests
	}
	return l.condition.DropReplies
}

// arrival is when something that a server says now arrives.
func (l *Link) arrival(from int) time.Duration {
	at := l.cluster.now + l.cluster.some(l.cluster.config.Latency)
	if l.condition.RepliesOnly && from == l.from {
		return at
	}
	at += l.condition.Latency + l.condition.transmission()
	if j := l.condition.Jitter; j > 0 {
		at += time.Duration(l.cluster.rand.Int64N(2*int64(j)+1)) - j
	}
	return at
}

// vote carries what a server says in an election; the connection is opened again when
// it is needed.
func (l *Link) vote(from, to *node, n election.Notification) {
	if l.condition.Refuse || l.condition.Reset || l.drops(from.id) || !to.running {
		return
	}
	way := 0
	if from.id != l.from {
		way = 1
	}
	life := to.life
	l.votes.Send(l.condition, way, func() {
		l.votesAt[way] = max(l.votesAt[way], l.arrival(from.id))
		l.cluster.At(l.votesAt[way], func() {
			if to.life == life && !l.condition.Refuse && !l.drops(from.id) {
				to.step(model.Voted{Notification: n})
			}
		})
	})
}

// dial opens a connection, after a way there and back.
func (l *Link) dial(from, to *node) {
	life := from.life
	l.cluster.At(l.arrival(l.from)+l.cluster.some(l.cluster.config.Latency), func() {
		if from.life != life {
			return
		}
		if l.condition.Refuse || !to.running {
			from.step(model.DialFailed{To: to.id})
			return
		}
		l.cluster.peers++
		s := &stream{link: l, number: l.cluster.peers, from: from, to: to}
		// Also if the link loses what they say: a proxy has accepted it, and dialed the other.
		l.open[s] = true
		from.streams[s.number], to.streams[s.number] = s, s
		to.step(model.PeerAccepted{Peer: s.number})
		from.step(model.PeerDialed{Peer: s.number, To: to.id})
	})
}

// stream is a connection between two servers.
type stream struct {
	link     *Link
	number   model.PeerID
	from, to *node
	// lost says that something of a direction was dropped: nothing later arrives in it. The
	// other direction goes on, as long as both servers keep the connection.
	lost    [2]bool
	backlog Backlog
	arrives [2]time.Duration
	said    [2]int
}

// other is the end that is not n, and which way it is from n.
func (s *stream) other(n *node) (end *node, way int) {
	if n == s.from {
		return s.to, 0
	}
	return s.from, 1
}

// send carries a message of one end to the other, behind those before.
func (s *stream) send(n *node, m model.Message) {
	to, way := s.other(n)
	c := s.link.condition
	if s.said[way]++; c.Reset || c.Left > 0 && way == 1 && s.said[way] > c.Left/message+1 {
		s.cut()
		return
	}
	s.deliver(n, to, way, model.PeerSaid{Peer: s.number, Message: m})
}

// deliver has an input arrive at the other end, when the link does not hold it back, and
// unless it drops it.
func (s *stream) deliver(n, to *node, way int, in model.Input) {
	s.backlog.Send(s.link.condition, way, func() { s.carry(n, to, way, in) })
}

// carry is deliver of what is not held back.
func (s *stream) carry(n, to *node, way int, in model.Input) {
	if s.lost[way] || s.link.drops(n.id) {
		s.lost[way] = true
		return
	}
	s.arrives[way] = max(s.arrives[way], s.link.arrival(n.id))
	s.link.cluster.Carry(&s.arrives[way], func() {
		if to.streams[s.number] != s {
			return // it was closed meanwhile
		}
		if s.lost[way] || s.link.drops(n.id) {
			s.lost[way] = true
			return
		}
		if _, closed := in.(model.PeerClosed); closed {
			delete(to.streams, s.number)
			delete(s.link.open, s)
		}
		to.step(in)
	})
}

// hang ends the connection at one end; the other one hears of it behind what was said, or
// when a link that has lost that is healed.
func (s *stream) hang(n *node) {
	to, way := s.other(n)
	if to.streams[s.number] != s {
		delete(s.link.open, s) // the other one has ended it too
		return
	}
	s.deliver(n, to, way, model.PeerClosed{Peer: s.number})
}

// cut ends the connection at both ends.
func (s *stream) cut() {
	delete(s.link.open, s)
	for _, n := range []*node{s.from, s.to} {
		if n.streams[s.number] == s {
			delete(n.streams, s.number)
			s.link.cluster.At(s.link.cluster.now, func() { n.step(model.PeerClosed{Peer: s.number}) })
		}
	}
}
