package recipes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
)

// What became of a create that was never answered.

// findContenders looks for the nodes of contenders that one transaction was to
// make. When it returns an error none is left, or their deletion is under way.
func findContenders(ctx context.Context, s *session, all []*contender) (found bool, err error) {
	defer func() {
		if err != nil {
			for _, c := range all {
				s.givenUp.add(c.guid)
				s.deleteByGUID(c.q.dir, c.guid, c.settled)
			}
		}
	}()
	var paths []string
	var tokens []Token
	for _, c := range all {
		got, err := findByGUID(ctx, s, c.q.dir, c.guid)
		switch {
		case err != nil:
			return false, err
		case len(got) == 0 && len(paths) == 0:
			return false, nil // one transaction was to make them: none is there
		case len(got) == 0:
			return false, errNodeGone // somebody deletes them meanwhile
		}
		token, err := identify(ctx, s, got[0])
		if err != nil {
			return false, err
		}
		paths, tokens = append(paths, got[0]), append(tokens, token)
	}
	for i, c := range all {
		s.takeZxid(c.guid)
		c.enqueued(paths[i], tokens[i])
	}
	return true, nil
}

// identify learns the token of a node whose create was never answered, and
// makes sure that the node is this session's: one that a dying session made
// must not be adopted (CURATOR-498).
func identify(ctx context.Context, s *session, path string) (Token, error) {
	stat, err := retry(ctx, s, func() (*zk.Stat, error) {
		ok, stat, err := s.conn.Exists(path)
		if err == nil && !ok {
			err = errNodeGone
		}
		return stat, err
	})
	if err != nil {
		return Token{}, err
	}
	if stat.EphemeralOwner != s.id {
		return Token{}, fmt.Errorf("%w: it belongs to session 0x%x", errNodeGone, stat.EphemeralOwner)
	}
	return Token{Zxid: stat.Czxid}, nil
}

// findByGUID returns the paths of the nodes with this guid; when there is none,
// none can appear.
func findByGUID(ctx context.Context, s *session, dir, guid string) (paths []string, err error) {
	children, err := settledChildren(ctx, s, dir)
	for _, child := range children {
		if strings.HasPrefix(child, protectedName(guid, "")) {
			paths = append(paths, dir+"/"+child)
		}
	}
	return paths, err
}

// settledChildren lists the children of a node, if there is one, after every
// request that the session has ever sent. A session's requests reach the leader
// in order and a request that the session sent through another server is refused
// once the session has moved, so that after a sync the list is final, also on a
// server that lagged behind (CURATOR-264).
func settledChildren(ctx context.Context, s *session, dir string) ([]string, error) {
	for {
		if err := s.awaitUp(ctx); err != nil {
			return nil, err
		}
		_, err := call(ctx, s, func() (string, error) { return s.conn.Sync(dir) }, nil)
		if err == nil {
			var children []string
			children, err = call(ctx, s, func() ([]string, error) {
				children, _, err := s.conn.Children(dir)
				return children, err
			}, nil)
			if err == nil {
				return children, nil
			}
		}
		if errors.Is(err, zk.ErrNoNode) {
			return nil, nil
		}
		if answered(err) {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}
