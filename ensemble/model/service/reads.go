package service

import (
	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// consult answers a request that changes only the client's watches, or nothing.
func (s *Service) consult(c *Connection, r *tree.Request) (wire.Record, wire.Code) {
	watcher := int64(c.id)
	switch r.Op {
	case wire.Ping:
		return nil, wire.OK
	case wire.WhoAmI:
		return s.tree.Read(*r)
	}
	if r.Body == nil {
		return nil, wire.MarshallingError
	}
	switch body := r.Body.(type) {
	case *wire.SetWatchesRequest:
		return s.restore(&wire.SetWatches2Request{SetWatchesRequest: *body}, watcher)
	case *wire.SetWatches2Request:
		return s.restore(body, watcher)
	case *wire.AddWatchRequest:
		if code := s.watches.Add(body, watcher); code != wire.OK {
			return nil, code
		}
		return &wire.ErrorReply{}, wire.OK
	case *wire.PathWatcherType:
		if r.Op == wire.CheckWatches {
			return nil, s.watches.Check(body.Path, body.Type, watcher)
		}
		return nil, s.watches.Remove(body.Path, body.Type, watcher)
	}
	if r.Op == wire.Sync {
		return r.Body, wire.OK
	}
	reply, code := s.tree.Read(*r)
	if read, is := r.Body.(*wire.PathWatch); is && read.Watch {
		s.watches.AddRead(r.Op, read.Path, code, watcher)
	}
	return reply, code
}

// restore adds a client's watches here, and sends the notifications that the client has
// missed.
func (s *Service) restore(r *wire.SetWatches2Request, watcher int64) (wire.Record, wire.Code) {
	for _, n := range s.watches.Restore(s.tree, r, watcher) {
		s.tell(n)
	}
	return nil, wire.OK
}
