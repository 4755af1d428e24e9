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
	Kind    string    // "lock-", "__READ__", "__WRIT__", "lease-": what it contends for, or holds
	Data    []byte    // see WithData; Curator puts an address here by default
	Session int64     // that owns it
	Token   Token     // that it holds the lock with, or will
	Since   time.Time // when it was created, by the leader's wall clock
}

// participants lists the nodes of these kinds at dir. A session that ends
// meanwhile is no concern of the caller's: the next one is asked again.
func (c *Client) participants(ctx context.Context, dir string, kinds []string) (all []Participant, err error) {
	if err = checkPath(dir); err == nil {
		err = c.throughSessions(ctx, func(s *session) (err error) {
			all, err = s.participants(ctx, dir, kinds)
			return err
		})
	}
	if err != nil {
		return nil, opError("participants", dir, err)
	}
	return all, nil
}

func (s *session) participants(ctx context.Context, dir string, kinds []string) (all []Participant, err error) {
	children, err := retry(ctx, s, func() ([]string, error) {
		children, _, err := s.conn.Children(dir)
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
	for _, e := range queue(children, kinds) {
		p := Participant{Node: dir + "/" + e.Node, Kind: e.Kind}
		n, err := retry(ctx, s, func() (node, error) {
			data, stat, err := s.conn.Get(p.Node)
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
