package client

import (
	"path"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/nemesis/fault"
)

// Answers returns the number of the client's requests, pings excepted, that have been answered;
// 0 when it is not known.
func (c *Client) Answers() int {
	c.mu.Lock()
	h := c.host
	c.mu.Unlock()
	if h == nil {
		return 0
	}
	return h.Answers()
}

// askShare is the share of calls of AskNowAndThen that send a request.
const askShare = 0.1

// AskNowAndThen sends a random request, as Ask does, in a share of the calls.
func (c *Client) AskNowAndThen() {
	if c.Asks.Float64() < askShare {
		c.Ask([]fault.Request{fault.Read, fault.Sync, fault.Write}[c.Asks.IntN(3)])
	}
}

// Ask sends a request in the session of the client's locks, as an application does that uses
// their connection for other things too. It returns at once, and nothing depends on the answer.
// A client without a connection sends nothing.
func (c *Client) Ask(what fault.Request) {
	target, session := c.Target(), c.SessionName()
	if target == nil {
		return
	}
	conn := target.Conn()
	if conn == nil {
		return
	}
	node := path.Join(c.Run.Observer.Presence(), session)
	// Ends when the servers answer, at the latest when the connection is closed.
	c.Background.Go(func() {
		switch what {
		case fault.Read:
			_, _, _ = conn.Exists(node)
		case fault.Sync:
			_, _ = conn.Sync(node)
		case fault.Write:
			_, _ = conn.Multi(&zk.CheckVersionRequest{Path: node, Version: -1})
		}
	})
}

// Write sends a request that the leader orders, in the session of the client's locks, and returns the
// time that the answer took; 0 if none came.
func (c *Client) Write() time.Duration {
	target, session := c.Target(), c.SessionName()
	if target == nil || target.Conn() == nil {
		return 0
	}
	began := time.Now()
	if _, err := target.Conn().Multi(&zk.CheckVersionRequest{Path: path.Join(c.Run.Observer.Presence(), session), Version: -1}); err != nil {
		return 0
	}
	return time.Since(began)
}
