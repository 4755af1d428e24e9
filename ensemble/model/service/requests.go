package service

import (
	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// queues hold the requests of clients, in order, while a write of theirs is under way
// (CommitProcessor).
type queues struct {
	service  *Service
	sessions map[int64][]queued
}

// queued is a request that waits for its commit, or for those before it.
type queued struct {
	conn *Connection
	*tree.Request
	refused *refusal // nil: none
}

// refusal is the answer to a request that is not carried out.
type refusal struct {
	code  wire.Code
	parts int // of a multi whose first part it is for; 0: it is for the request
}

// refusal returns the refusal of a request, nil if it is to be carried out.
func (s *Service) refusal(c *Connection, r *tree.Request) *refusal {
	if s.settings.Refuse == nil {
		return nil
	}
	code, part := s.settings.Refuse(c.ip, r.Op)
	if code == wire.OK {
		return nil
	}
	refused := &refusal{code: code}
	if multi, is := r.Body.(*wire.MultiRequest); is && part {
		refused.parts = len(multi.Parts)
	}
	return refused
}

// ordered reports whether the leader puts a request in order: a write, or a sync at a
// follower.
func (s *Service) ordered(op wire.Op) bool {
	switch op {
	case wire.Create, wire.Create2, wire.CreateTTL, wire.CreateContainer, wire.Delete, wire.DeleteContainer,
		wire.SetData, wire.Reconfig, wire.SetACL, wire.Multi, wire.Check, wire.CreateSession, wire.CloseSession:
		return true
	case wire.Sync:
		return s.quorum.OrdersSyncs()
	}
	return false
}

// known reports whether the operation exists (Request.isValid).
func known(op wire.Op) bool {
	switch op {
	case wire.Ping, wire.CreateSession, wire.CloseSession, wire.WhoAmI:
		return true
	}
	return wire.NewRequest(op) != nil
}

// submit carries out a request of a client, in the order of its session.
func (s *Service) submit(c *Connection, r *tree.Request) {
	if r.Op != wire.CreateSession && !s.quorum.Touch(c.session, c.timeout) {
		return // dropped, as by a real server: the session has just ended
	}
	if !known(r.Op) || r.Op == wire.Check && s.tree.Release() != tree.V38 {
		c.reply(wire.ReplyHeader{Xid: r.Cxid, Zxid: -1, Err: wire.Unimplemented}, nil)
		c.close()
		return
	}
	waiting := s.queues.sessions[r.Session]
	if refused := s.refusal(c, r); refused != nil {
		r = &tree.Request{Session: r.Session, Cxid: r.Cxid, Op: wire.ErrorOp} // not a write
		if len(waiting) > 0 {
			s.queues.sessions[r.Session] = append(waiting, queued{c, r, refused})
		} else {
			s.refuse(c, r, refused)
		}
		return
	}
	if s.ordered(r.Op) || len(waiting) > 0 {
		s.queues.sessions[r.Session] = append(waiting, queued{c, r, nil})
	} else {
		s.read(c, r)
	}
	if s.ordered(r.Op) {
		s.quorum.Ask(r)
	}
}

// Commit applies a transaction, and answers the client that has requested it here.
func (s *Service) Commit(x *tree.Txn) {
	outcome := s.tree.Apply(x)
	if s.settings.Applied != nil {
		s.settings.Applied(x, true)
	}
	s.notify(outcome.Events)
	if head := s.queues.sessions[x.Session]; len(head) > 0 && head[0].Cxid == x.Cxid && s.ordered(head[0].Op) && head[0].Op != wire.Sync {
		s.answer(head[0].conn, head[0].Request, outcome)
		s.queues.next(x.Session)
	} else if x.Op == wire.CloseSession {
		s.clients.closeSession(x.Session, nil)
	}
}

// AnswerSync answers a sync of a session, after all changes ordered before it have been
// applied.
func (s *Service) AnswerSync(session int64) {
	if head := s.queues.sessions[session]; len(head) > 0 && head[0].Op == wire.Sync {
		s.read(head[0].conn, head[0].Request)
		s.queues.next(session)
	}
}

// next takes the first request of a session off its queue, and carries out the reads
// behind it.
func (q *queues) next(session int64) {
	waiting := q.sessions[session][1:]
	for len(waiting) > 0 && !q.service.ordered(waiting[0].Op) {
		if refused := waiting[0].refused; refused != nil {
			q.service.refuse(waiting[0].conn, waiting[0].Request, refused)
		} else {
			q.service.read(waiting[0].conn, waiting[0].Request)
		}
		waiting = waiting[1:]
	}
	if len(waiting) == 0 {
		delete(q.sessions, session)
		return
	}
	q.sessions[session] = waiting
}
