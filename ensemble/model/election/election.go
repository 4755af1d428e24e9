// Package election is how ZooKeeper servers choose a leader: FastLeaderElection of
// ZooKeeper 3.8 and 3.9, as a state machine without a clock of its own.
//
// A server that looks for a leader votes, first for itself, and tells the others. Who
// hears of a better vote takes it over. A vote is better by its epoch, then by its last
// transaction, then by the server's number. When a quorum has the same vote, and
// nothing better comes for a while, the election is over.
package election

import (
	"slices"
	"time"
)

// FinalizeWait is how long a server that has a quorum for its vote waits for a better
// one (FastLeaderElection.finalizeWait).
const FinalizeWait = 200 * time.Millisecond

// State is what a server does.
type State int

// The states. A server follows, or leads, from the end of an election on.
const (
	Looking State = iota
	Following
	Leading
)

func (s State) String() string { return [...]string{"looking", "following", "leading"}[s] }

// Vote names a leader, and what speaks for it.
type Vote struct {
	Leader int
	Zxid   int64 // its last logged transaction
	Epoch  int64 // its current epoch
}

// better reports whether v is to be preferred to w.
func (v Vote) better(w Vote) bool {
	switch {
	case v.Epoch != w.Epoch:
		return v.Epoch > w.Epoch
	case v.Zxid != w.Zxid:
		return v.Zxid > w.Zxid
	}
	return v.Leader > w.Leader
}

// Notification is what a server tells another of its vote.
type Notification struct {
	From  int
	State State
	Vote  Vote
	Round int64 // of the election (electionEpoch)
}

// agrees reports whether n supports the vote of a server whose election is over. Of two such
// servers the round may differ, and the transaction: a leader may have won in a round that one
// of its followers did not hear of (Vote.equals, ZOOKEEPER-1805).
func (n Notification) agrees(over Notification) bool {
	if n.State == Looking {
		return n.Round == over.Round && n.Vote == over.Vote
	}
	return n.Vote.Leader == over.Vote.Leader && n.Vote.Epoch == over.Vote.Epoch
}

// Send is a notification on its way.
type Send struct {
	To int
	Notification
}

// Election is one server's part. Times are those of the server's clock.
type Election struct {
	self     int
	voters   []int
	longest  time.Duration // between two rounds of notifications without an answer
	state    State
	round    int64
	own      Vote // what the server would vote without the others
	vote     Vote
	received map[int]Notification // of this round
	settled  map[int]Notification // of servers that follow or lead
	interval time.Duration
	resend   time.Duration // when notifications are sent again
	finalize time.Duration // when the vote stands; 0 as long as it has no quorum
	out      []Send
}

// New is the part of a server in the elections among voters. Notifications that
// nobody answers are sent again at intervals that double, up to longest
// (zookeeper.fastleader.maxNotificationInterval).
func New(self int, voters []int, longest time.Duration) *Election {
	return &Election{self: self, voters: slices.Sorted(slices.Values(voters)), longest: longest, vote: Vote{Leader: -1, Zxid: -1}}
}

// Look begins an election: the server has logged up to zxid in an epoch.
func (e *Election) Look(now time.Duration, zxid, epoch int64) []Send {
	e.state = Looking
	e.round++
	e.own = Vote{e.self, zxid, epoch}
	e.vote = e.own
	e.received, e.settled = map[int]Notification{}, map[int]Notification{}
	e.interval = FinalizeWait
	e.finalize = 0
	e.tell(now)
	e.consider(now, Notification{e.self, Looking, e.vote, e.round})
	return e.take()
}

// State is what the server does, and the vote that it has ended its last election with.
func (e *Election) State() (State, Vote) { return e.state, e.vote }

// Settle takes over the epoch that the chosen leader has begun, so that all who ask
// later get the same vote (ZOOKEEPER-1732).
func (e *Election) Settle(epoch int64) { e.vote.Epoch = epoch }

// Receive takes in what another server says.
func (e *Election) Receive(now time.Duration, n Notification) []Send {
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

// Wake does what is due.
func (e *Election) Wake(now time.Duration) []Send {
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

// Due is when Wake has something to do.
func (e *Election) Due() (at time.Duration, ok bool) {
	if e.state != Looking {
		return 0, false
	}
	if e.finalize > 0 {
		return e.finalize, true
	}
	return e.resend, true
}

// consider weighs the vote of a server that looks for a leader as this one does.
func (e *Election) consider(now time.Duration, n Notification) {
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

// join weighs the vote of a server whose election is over: the leader that a quorum
// follows is followed, if it says itself that it leads.
func (e *Election) join(n Notification) {
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

func (e *Election) end(v Vote) {
	e.vote = v
	e.state = Following
	if v.Leader == e.self {
		e.state = Leading
	}
}

// quorum reports whether more than half of the voters have said such a thing.
func (e *Election) quorum(said map[int]Notification, such func(Notification) bool) bool {
	n := 0
	for _, v := range e.voters {
		if o, ok := said[v]; ok && such(o) {
			n++
		}
	}
	return 2*n > len(e.voters)
}

// tell sends the vote to all others.
func (e *Election) tell(now time.Duration) {
	e.resend = now + e.interval
	for _, v := range e.voters {
		if v != e.self {
			e.send(v)
		}
	}
}

func (e *Election) send(to int) {
	e.out = append(e.out, Send{to, Notification{e.self, e.state, e.vote, e.round}})
}

func (e *Election) take() []Send {
	out := e.out
	e.out = nil
	return out
}
