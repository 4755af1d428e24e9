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

// participants lists the nodes of these kinds at dir.
func (c *Client) participants(ctx context.Context, dir string, kinds []string) ([]Participant, error) {
	if err := checkPath(dir); err != nil {
		return nil, opError("participants", dir, err)
	}
	s, err := c.session(ctx)
	if err != nil {
		return nil, opError("participants", dir, err)
	}
	children, err := retry(ctx, s, func() ([]string, error) {
		children, _, err := s.conn.Children(dir)
		return children, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, opError("participants", dir, err)
	}
	var all []Participant
	for _, e := range queue(children, kinds) {
		p := Participant{Node: dir + "/" + e.Node, Kind: e.Kind}
		stat, err := retry(ctx, s, func() (*zk.Stat, error) {
			data, stat, err := s.conn.Get(p.Node)
			p.Data = data
			return stat, err
		})
		if errors.Is(err, zk.ErrNoNode) {
			continue // left meanwhile
		}
		if err != nil {
			return nil, opError("participants", dir, err)
		}
		p.Session, p.Token, p.Since = stat.EphemeralOwner, Token{Zxid: stat.Czxid}, time.UnixMilli(stat.Ctime)
		all = append(all, p)
	}
	return all, nil
}
