package drive

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/lock"
)

// sessionReads are a client's reads in ZooKeeper of the effects of its own requests, in one
// session: the transactions show which came first, however late the answers arrive.
type sessionReads struct {
	c       *client.Client
	conn    *zk.Conn
	session string
}

// sessionReadsOf returns the reads in a client's session; nil if it has none.
func sessionReadsOf(c *client.Client) *sessionReads {
	target := c.Target()
	if target == nil {
		return nil
	}
	m := &sessionReads{c: c, conn: target.Conn(), session: c.SessionName()}
	if !m.current() {
		return nil
	}
	return m
}

// current reports whether the client is still in the same session.
func (m *sessionReads) current() bool {
	target := m.c.Target()
	return target != nil && m.conn != nil && target.Conn() == m.conn &&
		m.c.SessionName() == m.session && lock.SessionName(m.conn.SessionID()) == m.session
}

// look returns the value that f finds, unless f finds none within a quarter of a session
// timeout, or the client has another session by then.
func look[T any](m *sessionReads, f func(ctx context.Context) (T, error)) (value T, ok bool) {
	ctx, cancel := context.WithTimeout(m.c.Run.Life, m.c.Run.SessionTimeout/4)
	defer cancel()
	type answer struct {
		value T
		err   error
	}
	found := make(chan answer, 1)
	// Ends when the servers answer, at the latest when the connection is closed.
	m.c.Background.Go(func() {
		value, err := f(ctx)
		found <- answer{value, err}
	})
	select {
	case a := <-found:
		if a.err == nil && m.current() {
			return a.value, true
		}
	case <-ctx.Done():
	}
	return value, false
}
