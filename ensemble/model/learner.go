package model

import (
	"github.com/zkverify/zkverify/ensemble/model/tree"
	"time"
)

// learner is a follower, as its leader sees it (LearnerHandler).
type learner struct {
	*leader
	peer     PeerID
	server   int
	stage    learnerStage
	zxid     int64 // the follower's last transaction, as it has reported
	deadline time.Duration
	answerBy int // the tick until which the leader counts on it
	unacked  []sent
}

// learnerStage is the progress of a follower in joining its leader.
type learnerStage int

const (
	connected learnerStage = iota
	informed               // has told which epoch it has accepted
	invited                // has been told the new epoch
	agreeing               // has accepted it
	receiving              // gets the data that it lacks; proposals are forwarded from now on
	synced                 // has all data
	current                // serves
)

// sent is a proposal that the follower has not acknowledged.
type sent struct {
	zxid int64
	at   time.Duration
}

func (f *learner) say(m Message) { f.do(Say{f.peer, m}) }

// said handles a message of the follower.
func (f *learner) said(m Message) {
	limit := f.config.initTimeout()
	if f.stage >= synced {
		limit = f.config.syncTimeout()
	}
	f.deadline = f.now + limit
	f.answerBy = f.ticks + f.config.SyncLimit
	switch m.Kind {
	case FollowerInfo:
		f.server, f.stage = m.Server, informed
		if f.phase == discovery {
			f.leader.epoch = max(f.leader.epoch, m.Epoch+1)
			f.agree(f.server)
		}
		f.advance()
	case AckEpoch:
		f.accept(m)
	case Ack:
		f.acked(m.Zxid)
	case Ask:
		f.order(serverNumber(f.server), m.Request, f.peer)
	case Ping:
		for _, t := range m.Touched {
			f.Touch(t.Session, t.Timeout)
		}
	case Revalidate:
		t := m.Touched[0]
		valid := f.Touch(t.Session, t.Timeout)
		if valid {
			f.leader.sessions.Own(t.Session, serverNumber(f.server))
		}
		f.say(Message{Kind: Revalidated, Touched: m.Touched, Valid: valid})
	}
}

// accept notes that the follower has accepted the new epoch.
func (f *learner) accept(m Message) {
	if f.stage != invited {
		return
	}
	if own := f.tree.LastZxid(); f.phase == agreement && m.Epoch != -1 &&
		(m.Epoch > f.disk.CurrentEpoch || m.Epoch == f.disk.CurrentEpoch && m.Zxid > own) {
		// It has more than this server: another one should lead.
		f.look()
		return
	}
	f.stage, f.zxid = agreeing, m.Zxid
	if f.phase == agreement && m.Epoch != -1 {
		f.agree(f.server)
	}
	f.advance()
}

// advance goes on with a follower as far as the leader's phase allows.
func (f *learner) advance() {
	if f.stage == informed && f.phase > discovery {
		f.stage = invited
		f.say(Message{Kind: LeaderInfo, Epoch: f.leader.epoch})
	}
	if f.stage == agreeing && f.phase > agreement {
		f.stage = receiving
		f.sync()
		f.say(Message{Kind: NewLeader, Zxid: zxidOf(f.leader.epoch)})
	}
	if f.stage == synced && f.phase == serving {
		f.stage = current
		f.answerBy = f.ticks + f.config.SyncLimit
		f.say(Message{Kind: UpToDate})
	}
}

// sync sends the data that the follower lacks, or makes it take back transactions that no
// other server has (LearnerHandler.syncFollower).
func (f *learner) sync() {
	own, last := f.tree.LastZxid(), f.zxid
	switch log, all := f.committed(last); {
	case last == own:
		f.say(Message{Kind: Diff})
	case last > f.lastCommitted() && last != zxidOf(epochOf(last)):
		f.say(Message{Kind: Trunc, Zxid: f.lastCommitted()})
		last = f.lastCommitted()
	case all && (f.disk.Has(last) || last == zxidOf(epochOf(last))):
		f.say(Message{Kind: Diff})
		f.replay(log)
		last = own
	default:
		f.say(Message{Kind: Snap, Tree: f.tree.Clone()})
		last = own
	}
	for _, p := range f.proposals {
		if p.Zxid > last {
			f.propose(p)
		}
	}
}

// committed returns the transactions that were committed after zxid. all reports whether
// the log reaches back that far.
func (f *learner) committed(zxid int64) (log []tree.Txn, all bool) {
	log, all = f.disk.Since(zxid)
	for n := len(log); n > 0 && log[n-1].Zxid > f.tree.LastZxid(); n-- {
		log = log[:n-1]
	}
	return log, all
}

// lastCommitted returns the last transaction that was committed. Unlike the tree's zxid
// it is never the number with which an epoch begins, as long as there is another.
func (f *learner) lastCommitted() int64 {
	if len(f.proposals) > 0 {
		return f.proposals[0].Zxid - 1
	}
	return f.disk.LastZxid()
}

// replay sends committed transactions.
func (f *learner) replay(log []tree.Txn) {
	for i := range log {
		x := log[i]
		f.say(Message{Kind: Proposal, Txn: &x})
		f.say(Message{Kind: Commit, Zxid: x.Zxid})
	}
}

// propose sends a proposal, which the follower has to acknowledge in time.
func (f *learner) propose(p *proposal) {
	f.unacked = append(f.unacked, sent{p.Zxid, f.now})
	f.say(Message{Kind: Proposal, Txn: p.Txn})
}

// acked notes that the follower has logged a proposal, or all data that it lacked.
func (f *learner) acked(zxid int64) {
	if f.stage == receiving {
		f.stage = synced
		f.deadline = f.now + f.config.syncTimeout()
		if f.phase == syncing {
			f.agree(f.server)
		}
		f.advance()
		return
	}
	for len(f.unacked) > 0 && f.unacked[0].zxid <= zxid {
		f.unacked = f.unacked[1:]
	}
	f.acknowledge(f.server, zxid)
}

// ping asks the follower for its sessions, or gives it up if it has left a proposal
// unanswered for too long.
func (f *learner) ping() {
	if f.stage < receiving {
		return
	}
	if len(f.unacked) > 0 && f.stage == current && f.now-f.unacked[0].at >= f.config.syncTimeout() {
		f.drop(f.peer)
		return
	}
	f.say(Message{Kind: Ping})
}
