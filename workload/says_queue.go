package workload

import (
	"context"
	"path"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// askQueue puts on record whom the client takes to stand in a lock's queue. It
// writes first, which a majority has to agree to: what had been answered to anybody
// by then is in what is read next on the same connection, whichever server answers.
func (c *client) askQueue(ctx context.Context, name string) {
	recipe := c.run.locks[name].Recipe
	if !c.run.promises.Says || recipe.HasPermits() {
		return
	}
	mode := histories.Mode("")
	if recipe == histories.ReadWrite {
		mode = histories.ModeRead
	}
	l, ok := c.lockerOf(name, mode).(lock.QueueLocker)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.run.cfg.SessionTimeout/4)
	defer cancel()
	session, conn := c.sessionName(), c.client().Conn()
	if conn == nil || lock.SessionName(conn.SessionID()) != session {
		return
	}
	s := c.saying()
	wrote := make(chan error, 1)
	// Ends when the servers answer, at the latest when the connection is closed.
	c.wg.Go(func() {
		_, err := conn.Set(path.Join(c.run.observer.presence(), session), nil, -1)
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
	if err != nil || c.client() == nil || c.client().Conn() != conn || c.sessionName() != session {
		return // another session asked, of a server that may lag behind
	}
	if s.Queue = queue; queue == nil {
		s.Queue = []histories.Participant{}
	}
	c.record(histories.Event{Type: histories.Says, Process: c.current(), Lock: name, Session: session, Saying: s})
}

// askNode has the run's observer look when the node of a lease was created, and
// puts that on record if the hold still lasts then.
func (h *hold) askNode() {
	l, ok := h.lease.(lock.NodeLease)
	if !ok || !h.c.run.promises.Says || h.event.Parts != nil {
		return
	}
	node := l.Node()
	// Ends when the servers answer, at the latest when the observer is closed.
	h.c.run.observer.wg.Go(func() {
		s := h.c.saying()
		there, stat, err := h.c.run.observer.conn.Exists(node)
		if err != nil || !there {
			return
		}
		s.Node, s.Created = node, stat.Czxid
		h.record(h.event, 0, s, false)
	})
}
