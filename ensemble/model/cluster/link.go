package cluster

import (
	"maps"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble/model"
)

// Condition is the state of a link, between two servers or between a client, which dials,
// and a server. The zero condition is a healthy link.
type Condition struct {
	Refuse       bool          // connections are closed, new ones are refused
	DropRequests bool          // messages of the server that dials are lost
	DropReplies  bool          // messages of the other server are lost
	HoldRequests bool          // messages of the server that dials are held back
	HoldReplies  bool          // messages of the other server are held back
	Reset        bool          // connections are accepted, and closed with their first message
	Latency      time.Duration // on top of the cluster's, each way
	Jitter       time.Duration // up to so much of it, more or less
	RepliesOnly  bool          // the latency holds for the server that is dialed alone
	Rate         int           // bytes a second, each way; 0 for no limit
	Slice        int           // bytes of a piece, in which all data arrives; 0 for no pieces
	Pause        time.Duration // after each piece
	Left         int           // bytes of the server that is dialed until the connection is closed; 0 for no limit
}

// message is the assumed length of a message between servers, in bytes.
const message = 100

// transmission returns the time that a message between servers takes besides the latency.
func (c Condition) transmission() (d time.Duration) {
	if c.Rate > 0 {
		d = message * time.Second / time.Duration(c.Rate)
	}
	if c.Slice > 0 {
		d += c.Pause * time.Duration((message+c.Slice-1)/c.Slice)
	}
	return d
}

// Link carries the connections that one server opens to another.
type Link struct {
	cluster   *Cluster
	from, to  int
	condition Condition
	open      map[*stream]bool
	votesAt   [2]time.Duration // when the last vote arrives, each way
	votes     Backlog
}

// Set changes the link's condition. A connection that has lost data in a direction, and
// would carry data in it again, is closed. Data that was held back is sent at once, in
// order.
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

// Backlog holds the sends that a link holds back, in order: those of the side that dials,
// and those of the other side.
type Backlog [2][]func()

// Send calls send, or keeps it as long as condition c holds its side back (0 for the side
// that dials, 1 for the other).
func (b *Backlog) Send(c Condition, way int, send func()) {
	if c.holds(way) {
		b[way] = append(b[way], send)
		return
	}
	send()
}

// Release calls the sends that condition c does not hold back.
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

// Condition returns the link's condition.
func (l *Link) Condition() Condition { return l.condition }

// streams returns the open connections, in the order in which they were opened.
func (l *Link) streams() []*stream {
	return slices.SortedFunc(maps.Keys(l.open), func(a, b *stream) int { return int(a.number - b.number) })
}

// drops reports whether the link loses the messages of server from.
func (l *Link) drops(from int) bool {
	if from == l.from {
		return l.condition.DropRequests
	}
	return l.condition.DropReplies
}

// arrival returns the instant at which a message that server from sends now arrives.
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

// vote carries a server's vote in an election. It needs no open connection: servers open
// one for votes when they need it.
func (l *Link) vote(from, to *node, n model.Notification) {
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

// dial opens a connection, after the time of a round trip.
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
		// Even if the link loses messages: a proxy has accepted the connection, and dialed the
		// other server.
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
	// lost reports, for each direction, that a message was dropped: no later message arrives in
	// it. The other direction goes on, as long as both servers keep the connection.
	lost    [2]bool
	backlog Backlog
	arrives [2]time.Duration
	said    [2]int
}

// other returns the end that is not n, and the direction from n to it.
func (s *stream) other(n *node) (end *node, way int) {
	if n == s.from {
		return s.to, 0
	}
	return s.from, 1
}

// send carries a message from one end to the other, behind the earlier messages.
func (s *stream) send(n *node, m model.Message) {
	to, way := s.other(n)
	c := s.link.condition
	if s.said[way]++; c.Reset || c.Left > 0 && way == 1 && s.said[way] > c.Left/message+1 {
		s.cut()
		return
	}
	s.deliver(n, to, way, model.PeerSaid{Peer: s.number, Message: m})
}

// deliver carries an input to the other end, once the link does not hold it back, and
// unless the link drops it.
func (s *stream) deliver(n, to *node, way int, in model.Input) {
	s.backlog.Send(s.link.condition, way, func() { s.carry(n, to, way, in) })
}

// carry delivers an input that the link does not hold back.
func (s *stream) carry(n, to *node, way int, in model.Input) {
	if s.lost[way] || s.link.drops(n.id) {
		s.lost[way] = true
		return
	}
	s.arrives[way] = max(s.arrives[way], s.link.arrival(n.id))
	s.link.cluster.Carry(&s.arrives[way], func() {
		if to.streams[s.number] != s {
			return // closed meanwhile
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

// hang ends the connection at one end. The other end hears of it behind the earlier
// messages, or, if the link has lost those, when the link is healed.
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
