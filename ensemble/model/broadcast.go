package model

import (
	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// order puts a request of a server's client in order: it becomes a transaction, and is
// proposed. A sync is queued behind the earlier proposals; peer is the follower's
// connection.
func (l *leader) order(owner serverNumber, r *tree.Request, peer ...PeerID) {
	if !l.Serves() || l.role != l {
		return
	}
	if r.Op == wire.Sync {
		at := syncOf{peer[0], r.Session}
		if n := len(l.proposals); n > 0 {
			l.proposals[n-1].syncs = append(l.proposals[n-1].syncs, at)
			return
		}
		l.learners[at.peer].syncDone(at)
		return
	}
	zxid := l.ahead.LastZxid() + 1
	if zxid == zxidOf(l.epoch+1)-1 {
		l.look() // the epoch has no more numbers: another one begins
		return
	}
	x := l.prepare(owner, r, zxid)
	l.ahead.Apply(&x)
	p := &proposal{Txn: &x, acks: map[int]bool{}}
	l.proposals = append(l.proposals, p)
	for _, id := range sorted(l.learners) {
		if f := l.learners[id]; f.stage >= receiving {
			f.propose(p)
		}
	}
	l.log(&x)
}

// prepare makes a transaction of a request, or an error transaction if it is refused.
func (l *leader) prepare(owner serverNumber, r *tree.Request, zxid int64) tree.Txn {
	switch r.Op {
	case wire.CreateSession:
		l.sessions.Track(l.now, r.Session, millis(r.Timeout))
		l.sessions.Own(r.Session, owner)
	case wire.CloseSession:
		l.sessions.Close(r.Session)
	case wire.DeleteContainer:
	case wire.Reconfig: // disabled; that is checked first
	default:
		if tree.Malformed(l.ahead.Release(), *r) != wire.OK {
			break // Prepare refuses it
		}
		if m, is := r.Body.(*wire.MultiRequest); is && len(m.Parts) == 0 {
			break // only its parts would be checked
		}
		if code := l.sessions.Check(r.Session, owner); code != wire.OK {
			return refuse(r, zxid, l.wall(), code)
		}
	}
	return tree.Prepare(l.ahead, *r, zxid, l.wall())
}

// refuse makes the transaction of a request whose session may not change anything.
func refuse(r *tree.Request, zxid, now int64, code wire.Code) tree.Txn {
	x := tree.Txn{Session: r.Session, Cxid: r.Cxid, Zxid: zxid, Time: now, Op: wire.ErrorOp, Change: tree.Error{Code: code}}
	if m, is := r.Body.(*wire.MultiRequest); is && len(m.Parts) > 0 {
		x.Op, x.Change = wire.Multi, refusedMulti(len(m.Parts), code)
	}
	return x
}

// refusedMulti is a multi whose first part was refused.
func refusedMulti(parts int, code wire.Code) tree.Multi {
	m := tree.Multi{}
	for range parts {
		m.Parts = append(m.Parts, tree.Part{Op: wire.ErrorOp, Change: tree.Error{Code: code}})
		code = wire.RuntimeInconsistency
	}
	return m
}

// acknowledge says that a server has logged everything up to a transaction. What a
// quorum has logged is committed, in order.
func (l *leader) acknowledge(server int, zxid int64) {
	for _, p := range l.proposals {
		if p.Zxid <= zxid {
			p.acks[server] = true
		}
	}
	for len(l.proposals) > 0 && l.config.isQuorum(len(l.proposals[0].acks)) {
		p := l.proposals[0]
		l.proposals = l.proposals[1:]
		for _, id := range sorted(l.learners) {
			if f := l.learners[id]; f.stage >= receiving {
				f.say(Message{Kind: Commit, Zxid: p.Zxid})
			}
		}
		l.commit(p.Txn)
		for _, at := range p.syncs {
			l.learners[at.peer].syncDone(at)
		}
	}
}

// syncDone tells a follower, if it is still connected, that all transactions ordered
// before a sync have been sent.
func (f *learner) syncDone(at syncOf) {
	if f != nil {
		f.say(Message{Kind: SyncDone, Touched: []Touch{{Session: at.session}}})
	}
}
