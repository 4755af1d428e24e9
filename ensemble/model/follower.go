package model

import (
	"time"

	"github.com/zkverify/zkverify/ensemble/model/service"
	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// When a leader refuses its connection, a follower tries so many times in all, at this
// interval (Learner.connectToLeader).
const (
	dialTries = 5
	dialPause = 100 * time.Millisecond
)

// follower is the role of a server that another one leads.
type follower struct {
	*Server
	leader   int
	peer     PeerID // 0 without a connection
	heard    bool   // the leader has sent a message on it
	tries    int
	redial   time.Duration // never while there is a connection or a dial under way
	deadline time.Duration // instant at which the leader has been silent for too long
	serving  bool
	caughtUp bool // has all that the leader had

	logged  []*tree.Txn // and not committed
	unacked []int64     // proposals that are not on disk yet
	touched map[int64]int32
	// sessions that have come to this server; the leader is asked about them
	waiting     map[int64]*service.Connection
	nextSession int64
}

func follow(s *Server, leader int) *follower {
	f := &follower{
		Server: s, leader: leader, redial: never, deadline: s.now + s.config.initTimeout(),
		touched: map[int64]int32{}, waiting: map[int64]*service.Connection{}, nextSession: s.firstSession(),
	}
	s.do(Dial{leader})
	return f
}

func (f *follower) Mode() string          { return "follower" }
func (f *follower) Serves() bool          { return f.serving }
func (f *follower) Check(int64) wire.Code { return wire.OK }
func (f *follower) accepted(PeerID) bool  { return false }

func (f *follower) Touch(session int64, timeout int32) bool {
	f.touched[session] = timeout
	return true
}

func (f *follower) NewSession() int64 {
	f.nextSession++
	return f.nextSession - 1
}

func (f *follower) Revalidate(c *service.Connection) {
	session, timeout := c.Session()
	f.waiting[session] = c
	f.say(Message{Kind: Revalidate, Touched: []Touch{{session, timeout}}})
}

// OrdersSyncs returns true: a sync waits for the changes that the leader has ordered.
func (f *follower) OrdersSyncs() bool { return true }

func (f *follower) sessionChanged(x *tree.Txn) {
	switch change := x.Change.(type) {
	case tree.CreateSession:
		f.Touch(x.Session, change.Timeout)
	case tree.CloseSession:
		delete(f.touched, x.Session)
	}
}

func (f *follower) Ask(r *tree.Request) { f.say(Message{Kind: Ask, Request: r}) }

func (f *follower) say(m Message) { f.do(Say{f.peer, m}) }

func (f *follower) leave() {
	if f.peer != 0 {
		f.do(Hang{f.peer})
		f.peer = 0
	}
}

func (f *follower) dialed(peer PeerID) {
	if f.peer != 0 {
		f.do(Hang{peer})
		return
	}
	f.peer = peer
	f.say(Message{Kind: FollowerInfo, Server: f.config.ID, Epoch: f.disk.AcceptedEpoch})
}

// closed handles the end of the connection with the leader, or a failed dial. A server
// that does not lead yet refuses the connection: then the follower tries again.
func (f *follower) closed(peer PeerID) {
	if peer != f.peer {
		return
	}
	f.peer = 0
	if f.tries++; f.heard || f.tries >= dialTries {
		f.look()
		return
	}
	f.redial = f.now + dialPause
}

func (f *follower) due() time.Duration { return min(f.redial, f.deadline) }

func (f *follower) wake() {
	switch {
	case f.now >= f.deadline:
		f.look()
	case f.now >= f.redial:
		f.redial = never
		f.do(Dial{f.leader})
	}
}

// said handles a message of the leader.
func (f *follower) said(peer PeerID, m Message) {
	if peer != f.peer {
		return
	}
	f.heard = true
	limit := f.config.initTimeout()
	if f.caughtUp {
		limit = f.config.syncTimeout()
	}
	f.deadline = f.now + limit
	switch m.Kind {
	case LeaderInfo:
		f.accept(m.Epoch)
	case Diff:
	case Trunc:
		if !f.disk.Truncate(m.Zxid) {
			f.look() // a real server ends itself here
			return
		}
		f.tree = f.disk.Load(f.config.release())
		f.tree.SetLastZxid(m.Zxid)
		f.service.SetTree(f.tree)
	case Snap:
		f.tree = m.Tree.Clone()
		f.disk.Replace(f.tree)
		f.service.SetTree(f.tree)
	case NewLeader:
		f.catchUp(m.Zxid)
	case UpToDate:
		f.serving = true
		f.election.Settle(f.disk.CurrentEpoch)
	case Proposal:
		f.logged = append(f.logged, m.Txn)
		f.unacked = append(f.unacked, m.Txn.Zxid)
		f.log(m.Txn)
	case Commit:
		f.committed(m.Zxid)
	case SyncDone:
		f.service.AnswerSync(m.Touched[0].Session)
	case Ping:
		f.pong()
	case Revalidated:
		if c := f.waiting[m.Touched[0].Session]; c != nil {
			delete(f.waiting, m.Touched[0].Session)
			c.Admit(m.Valid)
		}
	}
}

// accept answers the leader's new epoch. An epoch that was accepted before does not count
// a second time; an older one is refused.
func (f *follower) accept(epoch int64) {
	own := f.disk.CurrentEpoch
	switch {
	case epoch < f.disk.AcceptedEpoch:
		f.look()
		return
	case epoch == f.disk.AcceptedEpoch:
		own = -1
	}
	f.disk.AcceptedEpoch = epoch
	f.say(Message{Kind: AckEpoch, Epoch: own, Zxid: f.disk.LastZxid()})
}

// catchUp notes that the follower has all that the leader had.
func (f *follower) catchUp(zxid int64) {
	f.disk.Sync(f.disk.LastZxid())
	f.disk.CurrentEpoch = epochOf(zxid)
	f.caughtUp = true
	f.say(Message{Kind: Ack, Zxid: zxid})
	if n := len(f.logged); n > 0 {
		f.unacked = f.unacked[len(f.unacked)-n:] // the others were committed when they came
	} else {
		f.unacked = nil
	}
	f.synced(f.disk.LastZxid())
}

// synced acknowledges the proposals that are on disk now.
func (f *follower) synced(zxid int64) {
	for f.caughtUp && len(f.unacked) > 0 && f.unacked[0] <= zxid {
		f.say(Message{Kind: Ack, Zxid: f.unacked[0]})
		f.unacked = f.unacked[1:]
	}
}

// committed applies a proposal.
func (f *follower) committed(zxid int64) {
	if len(f.logged) == 0 || f.logged[0].Zxid != zxid {
		f.look() // a real server ends itself here
		return
	}
	x := f.logged[0]
	f.logged = f.logged[1:]
	f.commit(x)
}

// pong tells the leader which sessions were active since the last ping.
func (f *follower) pong() {
	m := Message{Kind: Ping}
	for _, id := range sorted(f.touched) {
		m.Touched = append(m.Touched, Touch{id, f.touched[id]})
	}
	clear(f.touched)
	f.say(m)
}
