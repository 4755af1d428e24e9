package drive

import (
	"context"
	"path"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/lock"
)

// turningBack is the number of rounds of which in one the last member turns back as soon as all
// are there: the others must not pass without it, unless they had begun. Only those rounds are
// followed in ZooKeeper. None of them is a long one.
const turningBack = 5

// turnsBack reports whether a member turns back in the round.
func (r *round) turnsBack() bool { return r.generation%turningBack == turningBack-1 && !r.short }

// comesAgain reports whether members of the round give up and enter again at once: on their way in, so
// that they may count twice or join the round, or on their way out, so that they must not join it.
func (r *round) comesAgain() bool { return r.generation%turningBack == turningBack-2 && !r.short }

// barrierReads follow one member of a double barrier. The transactions of a member that has
// given up, and of the beginning of a round, show which came first, however late the answers
// arrive.
type barrierReads struct {
	*sessionReads
	members, begun, beat string // nodes
}

// follow returns the reads for a member that is about to enter; nil if it cannot be followed.
func follow(c *client.Client, name string) *barrierReads {
	m := sessionReadsOf(c)
	target, ok := c.Target().(lock.MarkedBarrierClient)
	if !ok || m == nil {
		return nil
	}
	members, begun := target.BarrierNodes(name)
	return &barrierReads{m, members, begun, path.Join(c.Run.Observer.Presence(), m.session)}
}

// turnBack calls the function back when the barrier has at least size nodes, unless ctx has
// ended.
func (m *barrierReads) turnBack(ctx context.Context, size int, back func()) {
	m.c.Background.Go(func() { // ends with ctx
		for ctx.Err() == nil {
			m.c.Called()
			children, _, err := m.conn.Children(m.members)
			if err == nil && len(children) >= size {
				back()
				return
			}
			wait.For(ctx, time.Millisecond/5)
		}
	})
}

// entered returns the transaction that began the round that the member is inside. The session
// lives on after the look: so the member's node was there, and the node of its round.
func (m *barrierReads) entered() histories.Token {
	zxid, _ := look(m.sessionReads, func(context.Context) (int64, error) {
		_, stat, err := m.conn.Exists(m.begun)
		if err != nil {
			return 0, err
		}
		_, err = m.write()
		return stat.Czxid, err
	})
	return histories.Token{Zxid: zxid}
}

// gone returns a transaction by which no node was left of a member that had given up. A
// session's requests are carried out in their order, and a request that one server has taken is
// taken by no server after a later one: a request of the member before the first write is
// either carried out by then or never will be. After the first write gone waits until no node
// of the session is left, and then makes the second write.
func (m *barrierReads) gone() histories.Token {
	zxid, _ := look(m.sessionReads, func(ctx context.Context) (int64, error) {
		if _, err := m.write(); err != nil {
			return 0, err
		}
		for {
			left, err := m.left()
			if err != nil {
				return 0, err
			}
			if !left {
				return m.write()
			}
			wait.For(ctx, time.Millisecond)
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
		}
	})
	return histories.Token{Zxid: zxid}
}

// left reports whether a node of the session is among the members'.
func (m *barrierReads) left() (bool, error) {
	m.c.Called()
	children, _, err := m.conn.Children(m.members)
	if err != nil {
		return false, err
	}
	for _, child := range children {
		there, stat, err := m.conn.Exists(m.members + "/" + child)
		if err != nil {
			return false, err
		}
		if there && lock.SessionName(stat.EphemeralOwner) == m.session {
			return true, nil
		}
	}
	return false, nil
}

// write writes to the node of the session, and returns the transaction.
func (m *barrierReads) write() (int64, error) {
	stat, err := m.conn.Set(m.beat, nil, -1)
	if err != nil {
		return 0, err
	}
	return stat.Mzxid, nil
}
