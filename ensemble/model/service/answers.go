package service

import (
	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// answer tells a client the outcome of its write.
func (s *Service) answer(c *Connection, r *tree.Request, o tree.Outcome) {
	switch {
	case moved(o):
		c.close() // an error of the connection: the session is used elsewhere
		return
	case r.Op == wire.CreateSession:
		c.Admit(true)
		return
	}
	c.reply(wire.ReplyHeader{Xid: r.Cxid, Zxid: s.tree.LastZxid(), Err: o.Err}, o.Reply)
	if r.Op == wire.CloseSession {
		c.close()
	}
}

// moved reports whether a write was refused because its session is used elsewhere.
func moved(o tree.Outcome) bool {
	if multi, is := o.Reply.(*wire.MultiReply); is && len(multi.Results) > 0 {
		first, failed := multi.Results[0].Body.(*wire.ErrorReply)
		return failed && first.Err == wire.SessionMoved
	}
	return o.Err == wire.SessionMoved
}

// read carries out a request that changes no data.
func (s *Service) read(c *Connection, r *tree.Request) {
	if c.stage == shut {
		return
	}
	code := s.quorum.Check(r.Session)
	if code == wire.SessionMoved {
		c.close()
		return
	}
	var body wire.Record
	if code == wire.OK {
		body, code = s.consult(c, r)
	}
	h := wire.ReplyHeader{Xid: r.Cxid, Zxid: s.tree.LastZxid(), Err: code}
	if r.Op == wire.Ping && code == wire.OK {
		h.Xid = wire.PingXid
	}
	c.reply(h, body)
}

// refuse answers a request that is not carried out.
func (s *Service) refuse(c *Connection, r *tree.Request, how *refusal) {
	h := wire.ReplyHeader{Xid: r.Cxid, Zxid: s.tree.LastZxid(), Err: how.code}
	switch {
	case c.stage == shut:
	case how.code == HangUp:
		c.close()
	case how.parts > 0:
		h.Err = wire.OK
		multi := &wire.MultiReply{Results: make([]wire.Result, how.parts)}
		for i := range multi.Results {
			code := wire.RuntimeInconsistency
			if i == 0 {
				code = how.code
			}
			multi.Results[i] = wire.Result{Op: wire.ErrorOp, Err: code, Body: &wire.ErrorReply{Err: code}}
		}
		c.reply(h, multi)
	default:
		c.reply(h, nil)
	}
}

// notify sends the notifications of the watches that the events trigger.
func (s *Service) notify(events []tree.Event) {
	for _, e := range events {
		for _, n := range s.watches.Fire(e) {
			s.tell(n)
		}
	}
}

func (s *Service) tell(n notice) {
	c := s.clients.conns[ConnID(n.Watcher)]
	if c != nil && (n.ACL == nil || tree.Permits(n.ACL, wire.PermRead, c.auth)) {
		c.reply(wire.ReplyHeader{Xid: wire.NotificationXid, Zxid: n.Zxid}, &n.Event)
	}
}
