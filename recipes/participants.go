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
	Kind    string    // "lock-", "__READ__", "__WRIT__", "lease-": what it contends for, or holds
	Data    []byte    // see WithData; Curator puts an address here by default
	Session int64     // that owns it
	Token   Token     // that it holds the lock with, or will
	Since   time.Time // when it was created, by the leader's wall clock
}

// participants lists the nodes of these kinds at dir. A session that ends
// meanwhile is no concern of the caller's: the next one is asked again.
func (c *Client) participants(ctx context.Context, dir string, kinds []string) (all []Participant, err error) {
	if err = session.CheckPath(dir); err == nil {
		err = c.sessions.Through(ctx, func(s *session.Session) (err error) {
			all, err = participants(ctx, s, dir, kinds)
			return err
		})
	}
	if err != nil {
		return nil, opError("participants", dir, err)
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
	type node struct {
		data []byte
		stat *zk.Stat
	}
	for _, e := range queue.Places(children, kinds) {
		p := Participant{Node: dir + "/" + e.Node, Kind: e.Kind}
		n, err := session.Retry(ctx, s, func() (node, error) {
			data, stat, err := s.Conn.Get(p.Node)
			return node{data, stat}, err
		})
		if errors.Is(err, zk.ErrNoNode) {
			continue // left meanwhile
		}
		if err != nil {
			return nil, err
		}
		p.Data, p.Session = n.data, n.stat.EphemeralOwner
		p.Token, p.Since = Token{Zxid: n.stat.Czxid}, time.UnixMilli(n.stat.Ctime)
		all = append(all, p)
	}
	return all, nil
}
