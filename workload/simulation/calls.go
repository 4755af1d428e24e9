package simulation

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble/model"
	"github.com/zkverify/zkverify/ensemble/model/wire"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/ensemble/txnlog"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/situations"
	"github.com/zkverify/zkverify/workload/lock"
)

// situations counts the situations of a run that is over.
func (t *trace) situations(kept *histories.Kept) situations.Counts {
	header := kept.Header()
	c := situations.NewCounter(&header, true)
	calls, next, done := t.calls(), 0, 0
	changes := func(until time.Duration) {
		for ; done < len(t.txns) && t.txns[done].Time.Sub(t.began) <= until; done++ {
			changed(&t.txns[done], t.txns[done].Time.Sub(t.began), c.Change)
		}
	}
	for e := range kept.Events() {
		for ; next < len(calls) && calls[next].At <= e.Time; next++ {
			changes(calls[next].At)
			c.Call(calls[next])
		}
		changes(e.Time)
		c.Event(e)
	}
	return c.Counts()
}

// changed passes on the changes of a transaction.
func changed(x *txnlog.Txn, at time.Duration, take func(*situations.Change)) {
	one := situations.Change{At: at, Zxid: x.Zxid, Session: lock.SessionName(x.Session)}
	for _, change := range x.Changes {
		one.Path, one.Own = change.Path, change.Ephemeral
		switch change.Op {
		case wire.Create:
			one.Op = situations.Create
		case wire.Delete:
			one.Op = situations.Delete
		case wire.SetData:
			one.Op = situations.Set
		default:
			continue
		}
		take(&one)
	}
	if x.Op == wire.CloseSession {
		one.Op, one.Path, one.Own = "", "", false
		take(&one)
	}
}

// requestID names a request: its session, and its number there.
type requestID struct {
	session int64
	xid     int32
}

// caller puts together the requests of clients from messages.
type caller struct {
	conns     map[model.ConnID]*connection
	committed map[requestID]int64
	returns   map[string]time.Duration // by session: when a client tried to go on with it last
	all       []*situations.Call
}

// connection is a connection of a client to a server.
type connection struct {
	*caller
	client  string
	server  int
	session int64
	name    string  // of the session
	began   [2]bool // the first frame of the direction is over
	frames  [2]framing
	sent    [2]int // bytes, up to the end of the last frame
	arrived [2]*int
	connect *situations.Call // the request to go on with a session
	open    map[int32]*situations.Call
}

// The directions of a connection.
const (
	toServer = iota
	toClient
)

// calls returns the requests of clients, in the order of their answers.
func (t *trace) calls() []*situations.Call {
	c := &caller{conns: map[model.ConnID]*connection{}, committed: map[requestID]int64{}, returns: map[string]time.Duration{}}
	for i := range t.txns {
		if x := &t.txns[i]; x.Cxid != 0 && len(x.Changes) > 0 {
			c.committed[requestID{x.Session, x.Cxid}] = x.Zxid
		}
	}
	for _, piece := range t.messages {
		for i := range piece {
			if m := &piece[i]; m.Client != simulated.OwnAddress {
				c.conn(m).message(m)
			}
		}
	}
	for _, x := range c.all {
		x.Returned = c.returns[x.Session] > x.Sent
	}
	slices.SortStableFunc(c.all, func(a, b *situations.Call) int { return cmp.Compare(a.At, b.At) })
	return c.all
}

func (c *caller) conn(m *sent) *connection {
	x := c.conns[m.Conn]
	if x == nil {
		x = &connection{caller: c, client: m.Client, server: m.Server, open: map[int32]*situations.Call{}}
		c.conns[m.Conn] = x
	}
	return x
}

// message takes the bytes of a message, which may be a part of a frame or several.
func (c *connection) message(m *sent) {
	way, take := toServer, c.request
	if m.Reply {
		way, take = toClient, c.reply
	}
	c.arrived[way] = m.Arrived
	frames, _ := c.frames[way].take(m.Data)
	for _, f := range frames {
		c.sent[way] += 4 + len(f)
		take(f, m.at)
		c.began[way] = true
	}
}

// came reports whether the last frame of a direction has reached the other end.
func (c *connection) came(way int) bool { return *c.arrived[way] >= c.sent[way] }

// call returns a request of the client, of which the last frame is.
func (c *connection) call(at time.Duration) *situations.Call {
	return &situations.Call{At: at, Sent: at, Client: c.client, Server: c.server, Session: c.name, Arrived: c.came(toServer)}
}

// request takes a frame of the client.
func (c *connection) request(frame []byte, at time.Duration) {
	if !c.began[toServer] {
		var r wire.ConnectRequest
		if _, err := wire.Decode(frame, &r); err == nil && r.Session != 0 {
			c.name = lock.SessionName(r.Session)
			c.connect = c.call(at)
			c.connect.Op, c.returns[c.name] = situations.Connect, at
			c.all = append(c.all, c.connect)
		}
		return
	}
	if len(frame) < requestHead {
		return
	}
	xid, op := int32(binary.BigEndian.Uint32(frame)), wire.Op(int32(binary.BigEndian.Uint32(frame[4:])))
	if op == wire.Ping {
		return
	}
	x := c.call(at)
	if !asks(x, op, frame[requestHead:]) {
		return
	}
	x.Committed = c.committed[requestID{c.session, xid}]
	c.open[xid] = x
	c.all = append(c.all, x)
}

// The sizes of wire.RequestHeader and wire.ReplyHeader, which are read by hand: there is one in
// each of many messages.
const (
	requestHead = 4 + 4
	replyHead   = 4 + 8 + 4
)

// asks reads the body of a request. It reports false for a request that no situation knows.
func asks(x *situations.Call, op wire.Op, body []byte) bool {
	r := wire.NewRequest(op)
	if r == nil {
		return false
	}
	if _, err := wire.Decode(body, r); err != nil {
		return false
	}
	switch r := r.(type) {
	case *wire.CreateRequest:
		x.Op, x.Path = situations.Create, r.Path
		return r.Flags&wire.FlagEphemeral != 0
	case *wire.PathVersion:
		x.Op, x.Path = situations.Delete, r.Path
		return op == wire.Delete
	case *wire.SetDataRequest:
		x.Op, x.Path = situations.Set, r.Path
	case *wire.PathWatch:
		x.Op, x.Path, x.Watch = situations.Read, r.Path, r.Watch
		if op == wire.GetChildren || op == wire.GetChildren2 {
			x.Op = situations.List
		}
	case *wire.Path:
		x.Op, x.Path = situations.Sync, r.Path
		return op == wire.Sync
	case *wire.MultiRequest:
		x.Op = situations.Multi
		for _, p := range r.Parts {
			count(x, p)
		}
		return op == wire.Multi
	default:
		return false
	}
	return true
}

// count counts a part of a multi.
func count(x *situations.Call, p wire.Part) {
	switch body := p.Body.(type) {
	case *wire.CreateRequest:
		x.Creates, x.Path = x.Creates+1, cmp.Or(x.Path, body.Path)
	case *wire.SetDataRequest:
		x.Sets++
	case *wire.PathVersion:
		if p.Op == wire.Check {
			x.Checks++
		}
	}
}

// reply takes a frame of the server.
func (c *connection) reply(frame []byte, at time.Duration) {
	if !c.began[toClient] {
		c.welcome(frame, at)
		return
	}
	if len(frame) < replyHead {
		return
	}
	n, body := binary.BigEndian, frame[replyHead:]
	xid, zxid, code := int32(n.Uint32(frame)), int64(n.Uint64(frame[4:])), wire.Code(int32(n.Uint32(frame[12:])))
	if c.connect != nil && zxid > 0 {
		c.connect.Zxid, c.connect = zxid, nil
	}
	if xid == wire.NotificationXid {
		var e wire.WatcherEvent
		if _, err := wire.Decode(body, &e); err == nil {
			c.all = append(c.all, &situations.Call{
				At: at, Sent: at, Client: c.client, Server: c.server, Session: c.name, Op: situations.Notify, Path: e.Path, Answered: true, Received: c.came(toClient),
			})
		}
		return
	}
	x := c.open[xid]
	if x == nil {
		return
	}
	delete(c.open, xid)
	x.At, x.Answered, x.Received, x.Zxid = at, true, c.came(toClient), zxid
	if x.Sets > 0 {
		code = cmp.Or(code, refusal(body))
	}
	switch code {
	case wire.OK:
	case wire.NoNode:
		x.Failed = situations.NoNode
	default:
		x.Failed = "another"
	}
}

// refusal returns the error of the part for which a multi was not carried out, wire.OK if it was.
func refusal(body []byte) wire.Code {
	var r wire.MultiReply
	if _, err := wire.Decode(body, &r); err != nil {
		return wire.OK
	}
	for _, result := range r.Results {
		if e, failed := result.Body.(*wire.ErrorReply); failed && e.Err != wire.OK && e.Err != wire.RuntimeInconsistency {
			return e.Err
		}
	}
	return wire.OK
}

// welcome takes the answer to the request to connect.
func (c *connection) welcome(frame []byte, at time.Duration) {
	var r wire.ConnectResponse
	if _, err := wire.Decode(frame, &r); err != nil {
		return
	}
	c.session, c.name = r.Session, lock.SessionName(r.Session)
	if x := c.connect; x != nil {
		x.At, x.Answered, x.Received = at, true, c.came(toClient)
		if r.Session == 0 {
			x.Failed = "expired"
		}
	}
}
