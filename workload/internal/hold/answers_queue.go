package hold

import (
	"context"
	"path"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/lock"
)

// AskQueue records the participants that the client sees in a lock's queue. It writes first,
// and a majority has to agree to that: all that had been answered to any client by then is in
// the next read on the same connection, whichever server answers.
func AskQueue(ctx context.Context, c *client.Client, name string) {
	recipe := c.Run.Locks[name].Recipe
	if !c.Run.Promises.Says || recipe.HasPermits() {
		return
	}
	mode := histories.Mode("")
	if recipe == histories.ReadWrite {
		mode = histories.ModeRead
	}
	l, ok := lockerOf(c, name, mode).(lock.QueueLocker)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.Run.SessionTimeout/4)
	defer cancel()
	session, conn := c.SessionName(), c.Target().Conn()
	if conn == nil || lock.SessionName(conn.SessionID()) != session {
		return
	}
	s := saying(c)
	wrote := make(chan error, 1)
	// Ends when the servers answer, at the latest when the connection is closed.
	c.Background.Go(func() {
		_, err := conn.Set(path.Join(c.Run.Observer.Presence(), session), nil, -1)
		wrote <- err
	})
	select {
	case err := <-wrote:
		if err != nil {
			return
		}
	case <-ctx.Done():
		return
	}
	queue, err := l.Participants(ctx, name)
	if err != nil || c.Target() == nil || c.Target().Conn() != conn || c.SessionName() != session {
		return // another session asked, of a server that may lag behind
	}
	if s.Queue = queue; queue == nil {
		s.Queue = []histories.Participant{}
	}
	c.Record(histories.Event{Type: histories.Says, Process: c.Current(), Lock: name, Session: session, Saying: s})
}

// askNode lets the run's observer look up the time at which the node of a lease was created,
// and records it if the hold still lasts then.
func (h answers) askNode() {
	l, ok := h.Lease.(lock.NodeLease)
	if !ok || !h.Client.Run.Promises.Says || h.Event.Parts != nil {
		return
	}
	node := l.Node()
	s := saying(h.Client)
	h.Client.Run.Observer.WhenCreated(node, func(czxid int64) {
		s.Node, s.Created = node, czxid
		h.record(h.Event, 0, s, false)
	})
}
