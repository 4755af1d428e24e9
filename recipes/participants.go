package recipes

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
)

// Participant is one contender in a lock's queue.
type Participant struct {
	Node    string    // path of its node
	Data    []byte    // see WithData; Curator puts an address here by default
	Session int64     // that owns it
	Token   Token     // that it holds the lock with, or will
	Since   time.Time // when it was created, by the leader's wall clock
}

// Participants lists the contenders in the order of their turns; the first one
// holds the lock. It is a picture of the recent past, also of crashed
// contenders whose sessions have not expired yet.
func (m *Mutex) Participants(ctx context.Context) ([]Participant, error) {
	if err := checkPath(m.path); err != nil {
		return nil, opError("participants", m.path, err)
	}
	s, err := m.client.session(ctx)
	if err != nil {
		return nil, opError("participants", m.path, err)
	}
	children, err := retry(ctx, s, func() ([]string, error) {
		children, _, err := s.conn.Children(m.path)
		return children, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, opError("participants", m.path, err)
	}
	var all []Participant
	for _, e := range queue(children, lockName) {
		p := Participant{Node: m.path + "/" + e.name}
		stat, err := retry(ctx, s, func() (*zk.Stat, error) {
			data, stat, err := s.conn.Get(p.Node)
			p.Data = data
			return stat, err
		})
		if errors.Is(err, zk.ErrNoNode) {
			continue // left meanwhile
		}
		if err != nil {
			return nil, opError("participants", m.path, err)
		}
		p.Session, p.Token, p.Since = stat.EphemeralOwner, Token{Zxid: stat.Czxid}, time.UnixMilli(stat.Ctime)
		all = append(all, p)
	}
	return all, nil
}
