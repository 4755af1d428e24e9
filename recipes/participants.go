package recipes

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/queue"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Participant is one contender in a lock's queue.
type Participant struct {
	Node    string    // path of its node
	Kind    string    // "lock-", "__READ__", "__WRIT__", "lease-", "latch-": kind of the lock, or of its side
	Data    []byte    // see WithData and WithIdentity; Curator puts an address here by default
	Session int64     // session that owns the node
	Token   Token     // token of its lease, now or once it is granted
	Since   time.Time // when the node was created, by the leader's wall clock
}

// participants lists the nodes of these kinds at dir. When the session ends meanwhile, it asks
// again in the next session.
func (c *Client) participants(ctx context.Context, dir string, kinds []string) (all []Participant, err error) {
	if err = session.CheckPath(dir); err == nil {
		err = c.sessions.Through(ctx, func(s *session.Session) (err error) {
			all, err = participants(ctx, s, dir, kinds)
			return err
		})
	}
	if err != nil {
		return nil, c.failed(ctx, "participants", dir, err)
	}
	return all, nil
}

func participants(ctx context.Context, s *session.Session, dir string, kinds []string) (all []Participant, err error) {
	children, err := session.Retry(ctx, s, func() ([]string, error) {
		children, _, err := s.Conn.Children(dir)
		return children, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range queue.Places(children, kinds) {
		p, err := participantAt(ctx, s, dir+"/"+e.Node, e.Kind)
		switch {
		case errors.Is(err, zk.ErrNoNode):
			continue // left meanwhile
		case err != nil:
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// participantAt reads the node of a contender.
func participantAt(ctx context.Context, s *session.Session, path, kind string) (Participant, error) {
	type node struct {
		data []byte
		stat *zk.Stat
	}
	n, err := session.Retry(ctx, s, func() (node, error) {
		data, stat, err := s.Conn.Get(path)
		return node{data, stat}, err
	})
	if err != nil {
		return Participant{}, err
	}
	return Participant{
		Node: path, Kind: kind, Data: n.data, Session: n.stat.EphemeralOwner, Token: Token{Zxid: n.stat.Czxid}, Since: time.UnixMilli(n.stat.Ctime),
	}, nil
}
