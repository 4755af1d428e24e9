package model

import (
	"slices"
	"time"
)

// FinalizeWait is the time that a server with a quorum for its vote waits for a better
// vote (FastLeaderElection.finalizeWait).
const FinalizeWait = 200 * time.Millisecond

// ElectionState is the state of a server in the elections.
type ElectionState int

// The states. A server follows, or leads, from the end of an election on.
const (
	Looking ElectionState = iota
	Following
	Leading
)

func (s ElectionState) String() string { return [...]string{"looking", "following", "leading"}[s] }

// Ballot names a leader, with the claims by which votes are compared.
type Ballot struct {
	Leader int
	Zxid   int64 // its last logged transaction
	Epoch  int64 // its current epoch
}

// better reports whether v is to be preferred to w.
func (v Ballot) better(w Ballot) bool {
	switch {
	case v.Epoch != w.Epoch:
		return v.Epoch > w.Epoch
	case v.Zxid != w.Zxid:
		return v.Zxid > w.Zxid
	}
	return v.Leader > w.Leader
}

// Notification carries a server's vote to another server.
type Notification struct {
	From  int
	State ElectionState
	Vote  Ballot
	Round int64 // of the election (electionEpoch)
}

// agrees reports whether n supports the vote of a server whose election is over. The
// rounds and transactions of two such servers may differ: a leader may have won in a
// round that one of its followers did not hear of (Vote.equals, ZOOKEEPER-1805).
func (n Notification) agrees(over Notification) bool {
	if n.State == Looking {
		return n.Round == over.Round && n.Vote == over.Vote
	}
	return n.Vote.Leader == over.Vote.Leader && n.Vote.Epoch == over.Vote.Epoch
}

// Send is a notification to send to a server.
type Send struct {
	To int
	Notification
}

// election is one server's part in the elections: FastLeaderElection of ZooKeeper 3.8 and 3.9, as
// a state machine without a clock of its own.
//
// A server that looks for a leader votes, first for itself, and tells the others. A server that
// hears of a better vote adopts it. Votes are compared by the epoch, then by the last transaction,
// then by the server's number. The election is over when a quorum has the same vote, and no better
// one comes for a while.
//
// Times are those of the server's clock.
type election struct {
	self     int
	voters   []int
	longest  time.Duration // between two rounds of notifications without an answer
	state    ElectionState
	round    int64
	own      Ballot // the vote that the server casts first
	vote     Ballot
	received map[int]Notification // of this round
	settled  map[int]Notification // of servers that follow or lead
	interval time.Duration
	resend   time.Duration // instant at which notifications are sent again
	finalize time.Duration // instant at which the vote stands; 0 as long as it has no quorum
	out      []Send
}

// newElection returns the part of server self in the elections among voters. Unanswered
// notifications are sent again at intervals that double, up to longest
// (zookeeper.fastleader.maxNotificationInterval).
func newElection(self int, voters []int, longest time.Duration) *election {
	return &election{self: self, voters: slices.Sorted(slices.Values(voters)), longest: longest, vote: Ballot{Leader: -1, Zxid: -1}}
}

// Look begins an election. zxid is the server's last logged transaction, in the given
// epoch.
func (e *election) Look(now time.Duration, zxid, epoch int64) []Send {
	e.state = Looking
	e.round++
	e.own = Ballot{e.self, zxid, epoch}
	e.vote = e.own
	e.received, e.settled = map[int]Notification{}, map[int]Notification{}
	e.interval = FinalizeWait
	e.finalize = 0
	e.tell(now)
	e.consider(now, Notification{e.self, Looking, e.vote, e.round})
	return e.take()
}

// State returns the server's state, and the vote with which its last election ended.
func (e *election) State() (ElectionState, Ballot) { return e.state, e.vote }

// Settle adopts the epoch that the chosen leader has begun, so that all servers that ask
// later get the same vote (ZOOKEEPER-1732).
func (e *election) Settle(epoch int64) { e.vote.Epoch = epoch }

// Receive handles another server's notification.
func (e *election) Receive(now time.Duration, n Notification) []Send {
	if !slices.Contains(e.voters, n.From) || !slices.Contains(e.voters, n.Vote.Leader) {
		return nil
	}
	if e.state != Looking {
		if n.State == Looking {
			e.send(n.From)
		}
		return e.take()
	}
	if n.State == Looking && n.Round < e.round {
		e.send(n.From)
	}
	e.resend = now + e.interval
	switch n.State {
	case Looking:
		e.consider(now, n)
	default:
		e.join(n)
	}
	return e.take()
}

// Wake carries out the steps that are due.
func (e *election) Wake(now time.Duration) []Send {
	if e.state != Looking {
		return nil
	}
	switch {
	case e.finalize > 0 && now >= e.finalize:
		e.end(e.vote)
	case e.finalize == 0 && now >= e.resend:
		e.interval = min(2*e.interval, e.longest)
		e.tell(now)
	}
	return e.take()
}

// Due returns the instant at which Wake must be called.
func (e *election) Due() (at time.Duration, ok bool) {
	if e.state != Looking {
		return 0, false
	}
	if e.finalize > 0 {
		return e.finalize, true
	}
	return e.resend, true
}

// consider handles the vote of a server that is looking for a leader, as this one is.
func (e *election) consider(now time.Duration, n Notification) {
	switch {
	case n.Round > e.round:
		e.round = n.Round
		clear(e.received)
		e.finalize = 0
		e.vote = e.own
		if n.Vote.better(e.own) {
			e.vote = n.Vote
		}
		e.tell(now)
	case n.Round < e.round:
		return
	case n.Vote.better(e.vote):
		e.vote = n.Vote
		e.finalize = 0
		e.tell(now)
	}
	e.received[e.self] = Notification{e.self, Looking, e.vote, e.round}
	if n.From != e.self {
		e.received[n.From] = n
	}
	if e.finalize == 0 && e.quorum(e.received, func(o Notification) bool { return o.Vote == e.vote }) {
		e.finalize = now + FinalizeWait
	}
}

// join handles the vote of a server whose election is over: this server follows the
// leader that a quorum follows, if that leader itself says that it leads.
func (e *election) join(n Notification) {
	follow := func(from map[int]Notification) bool {
		from[n.From] = n
		leads := from[n.Vote.Leader].State == Leading
		if n.Vote.Leader == e.self {
			leads = e.round == n.Round
		}
		return leads && e.quorum(from, func(o Notification) bool { return o.agrees(n) })
	}
	if n.Round == e.round && follow(e.received) {
		e.end(n.Vote)
		return
	}
	if follow(e.settled) {
		e.round = n.Round
		e.end(n.Vote)
	}
}

func (e *election) end(v Ballot) {
	e.vote = v
	e.state = Following
	if v.Leader == e.self {
		e.state = Leading
	}
}

// quorum reports whether more than half of the voters have sent a notification for which
// such holds.
func (e *election) quorum(said map[int]Notification, such func(Notification) bool) bool {
	n := 0
	for _, v := range e.voters {
		if o, ok := said[v]; ok && such(o) {
			n++
		}
	}
	return 2*n > len(e.voters)
}

// tell sends the vote to all others.
func (e *election) tell(now time.Duration) {
	e.resend = now + e.interval
	for _, v := range e.voters {
		if v != e.self {
			e.send(v)
		}
	}
}

func (e *election) send(to int) {
	e.out = append(e.out, Send{to, Notification{e.self, e.state, e.vote, e.round}})
}

func (e *election) take() []Send {
	out := e.out
	e.out = nil
	return out
}
