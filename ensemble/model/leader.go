package model

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/service"
	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// leader is the role of the server that a quorum has voted for. It serves when a quorum
// has synced with it.
type leader struct {
	*Server
	phase    phase
	deadline time.Duration // of the phase
	epoch    int64
	agreed   map[int]bool // servers that have done the phase's step
	learners map[PeerID]*learner

	nextSession int64
	sessions    *tracker
	ahead       *tree.Tree // with all proposals applied
	proposals   []*proposal
	ticks       int
	halfTicks   int
	nextHalf    time.Duration
	reapAt      time.Duration
}

// phase is a phase of leading, named after the step that a quorum has to do.
type phase int

const (
	discovery phase = iota // a quorum tells its accepted epochs
	agreement              // a quorum accepts the new epoch
	syncing                // a quorum gets the leader's data
	serving
)

// proposal is a transaction that no quorum has logged yet.
type proposal struct {
	*tree.Txn
	acks  map[int]bool
	syncs []syncOf
}

// syncOf is a session of a follower that waits for the earlier proposals.
type syncOf struct {
	peer    PeerID
	session int64
}

func lead(s *Server) *leader {
	l := &leader{
		Server: s, epoch: s.disk.AcceptedEpoch + 1, learners: map[PeerID]*learner{}, nextSession: s.firstSession(),
	}
	l.enter(discovery)
	return l
}

// enter begins a phase. The leader itself has done its step.
func (l *leader) enter(p phase) {
	l.phase = p
	l.deadline = l.now + l.config.initTimeout()
	l.agreed = map[int]bool{}
	l.agree(l.config.ID)
}

// agree notes that a server has done the phase's step; a quorum of them ends the phase.
func (l *leader) agree(server int) {
	if l.agreed[server] = true; !l.config.isQuorum(len(l.agreed)) {
		return
	}
	switch l.phase {
	case discovery:
		l.disk.AcceptedEpoch = l.epoch
		l.enter(agreement)
	case agreement:
		l.disk.CurrentEpoch = l.epoch
		l.enter(syncing)
	case syncing:
		l.serve()
	default:
		return
	}
	for _, id := range sorted(l.learners) {
		if f := l.learners[id]; f != nil {
			f.advance()
		}
	}
}

// serve begins to serve: every session has its whole timeout again.
func (l *leader) serve() {
	l.phase = serving
	l.deadline = never
	if l.config.Applied != nil { // what it has logged is committed from now on
		logged, _ := l.disk.Since(l.disk.SnapshotZxid())
		for i := range logged {
			l.config.Applied(&logged[i], true)
		}
	}
	l.tree.SetLastZxid(zxidOf(l.epoch))
	l.ahead = l.tree.Clone()
	l.sessions = newTracker(l.now, l.config.TickTime)
	for _, s := range l.tree.Sessions() {
		l.sessions.Track(l.now, s.ID, millis(s.Timeout))
	}
	l.election.Settle(l.epoch)
	l.nextHalf = l.now + l.config.TickTime/2
	l.reapAt = l.now + l.config.ContainerInterval
}

func millis(ms int32) time.Duration { return time.Duration(ms) * time.Millisecond }

func (l *leader) Mode() string { return "leader" }
func (l *leader) Serves() bool { return l.phase == serving }

func (l *leader) Touch(session int64, timeout int32) bool {
	return l.Serves() && l.sessions.Touch(l.now, session, millis(timeout))
}

func (l *leader) Check(session int64) wire.Code {
	return l.sessions.Check(session, serverNumber(l.config.ID))
}

func (l *leader) NewSession() int64 {
	l.nextSession++
	return l.nextSession - 1
}

func (l *leader) Revalidate(c *service.Connection) {
	session, timeout := c.Session()
	valid := l.Touch(session, timeout)
	l.sessions.Own(session, serverNumber(l.config.ID))
	c.Admit(valid)
}

// OrdersSyncs returns false: the leader's own tree has all committed changes.
func (l *leader) OrdersSyncs() bool { return false }

func (l *leader) sessionChanged(x *tree.Txn) {
	if _, ended := x.Change.(tree.CloseSession); ended {
		l.sessions.Remove(x.Session)
	}
}

func (l *leader) Ask(r *tree.Request) { l.order(serverNumber(l.config.ID), r) }

func (l *leader) leave() {
	for _, id := range sorted(l.learners) {
		l.drop(id)
	}
}

// due returns the instant at which the leader must be woken.
func (l *leader) due() time.Duration {
	at := l.deadline
	for _, f := range l.learners {
		at = min(at, f.deadline)
	}
	if l.Serves() {
		at = min(at, l.nextHalf, l.sessions.Due(), l.reapAt)
	}
	return at
}

func (l *leader) wake() {
	for _, id := range sorted(l.learners) {
		if f := l.learners[id]; f != nil && l.now >= f.deadline {
			l.drop(id)
		}
	}
	if l.now >= l.deadline {
		l.look() // no quorum has come in time
		return
	}
	if !l.Serves() {
		return
	}
	for _, id := range l.sessions.Expire(l.now) {
		session, _ := l.ahead.Session(id)
		l.do(Print{fmt.Sprintf("Expiring session %#x, timeout of %dms exceeded", uint64(id), session.Timeout)})
		l.Ask(&tree.Request{Session: id, Op: wire.CloseSession})
	}
	if l.now >= l.reapAt {
		l.reapAt = l.now + l.config.ContainerInterval
		for _, path := range l.tree.Reapable(l.wall(), 0) {
			l.Ask(&tree.Request{Op: wire.DeleteContainer, Body: &wire.Path{Path: path}})
		}
	}
	if l.now >= l.nextHalf {
		l.halfTick()
	}
}

// halfTick pings the followers, and once a tick checks that a quorum is connected.
func (l *leader) halfTick() {
	l.nextHalf = l.now + l.config.TickTime/2
	if l.halfTicks++; l.halfTicks%2 == 0 {
		l.ticks++
		alive := 1
		for _, f := range l.learners {
			if f.stage == current && l.ticks <= f.answerBy {
				alive++
			}
		}
		if !l.config.isQuorum(alive) {
			l.look()
			return
		}
	}
	for _, id := range sorted(l.learners) {
		l.learners[id].ping()
	}
}

func (l *leader) dialed(PeerID) {}

func (l *leader) accepted(peer PeerID) bool {
	l.learners[peer] = &learner{leader: l, peer: peer, deadline: l.now + l.config.initTimeout()}
	return true
}

func (l *leader) closed(peer PeerID) { delete(l.learners, peer) }

// drop ends the connection with a follower.
func (l *leader) drop(peer PeerID) {
	l.do(Hang{peer})
	delete(l.learners, peer)
}

func (l *leader) said(peer PeerID, m Message) {
	if f := l.learners[peer]; f != nil {
		f.said(m)
	}
}

// synced notes that the leader itself has logged its proposals.
func (l *leader) synced(zxid int64) { l.acknowledge(l.config.ID, zxid) }
