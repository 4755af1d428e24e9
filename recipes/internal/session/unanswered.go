package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// The outcome of a create that was never answered.

// Identify returns the transaction that created a node whose create was never answered, and
// makes sure that the node is this session's: a node that a dying session created must not
// be adopted (CURATOR-498).
func Identify(ctx context.Context, s *Session, path string) (zxid int64, err error) {
	stat, err := Retry(ctx, s, func() (*zk.Stat, error) {
		ok, stat, err := s.Conn.Exists(path)
		if err == nil && !ok {
			err = ErrNodeGone
		}
		return stat, err
	})
	if err != nil {
		return 0, err
	}
	if stat.EphemeralOwner != s.ID {
		return 0, fmt.Errorf("%w: it belongs to session 0x%x", ErrNodeGone, stat.EphemeralOwner)
	}
	return stat.Czxid, nil
}

// FindByGUID returns the paths of the nodes with this guid. When there is none, none can
// appear.
func FindByGUID(ctx context.Context, s *Session, dir, guid string) (paths []string, err error) {
	children, err := SettledChildren(ctx, s, dir)
	for _, child := range children {
		if strings.HasPrefix(child, ProtectedName(guid, "")) {
			paths = append(paths, dir+"/"+child)
		}
	}
	return paths, err
}

// SettledChildren lists the children of a node, if it exists, after every request that the
// session has ever sent: see settled.
func SettledChildren(ctx context.Context, s *Session, dir string) ([]string, error) {
	children, err := settled(ctx, s, dir, func() ([]string, error) {
		children, _, err := s.Conn.Children(dir)
		return children, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	return children, err
}

// Settle calls over when no request that the session has sent so far can be carried out any more, or
// when the session has ended: see settled. path is that of a node. Settle does not wait.
func Settle(s *Session, path string, over func()) {
	settle := func() {
		_, _ = settled(s.Quit, s, path, func() (struct{}, error) { return struct{}{}, nil })
		over()
	}
	if !s.Spawn(settle) {
		over()
	}
}

// settled runs look after every request that the session has ever sent and that may have
// changed nodes below a node, and returns the result. A session's requests reach the leader
// in order, and a request that the session sent through another server is refused once the
// session has moved. So a read after a write is final, even on a server that lagged behind
// (CURATOR-264).
//
// A sync would not do: a leader answers the sync of a client of its own at once, without
// regard to what it has proposed and not committed yet (CommitProcessor, whose matchSyncs
// is false there). It does so even if it is cut off from the other servers, which may
// commit the proposal without it. The write is a delete of a node that does not exist. It
// changes nothing, but is committed behind all earlier proposals.
func settled[T any](ctx context.Context, s *Session, dir string, look func() (T, error)) (read T, err error) {
	nowhere := strings.TrimSuffix(dir, "/") + "/" + ProtectedName(NewGUID(), "settle")
	for pace := (Backoff{Longest: 2 * time.Second}); ; {
		if err := s.AwaitUp(ctx); err != nil {
			return read, err
		}
		_, err := Call(ctx, s, func() (struct{}, error) { return struct{}{}, s.Conn.Delete(nowhere, -1) }, nil)
		if err == nil || errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNoAuth) {
			if read, err = Call(ctx, s, look, nil); err == nil {
				return read, nil
			}
		}
		if Answered(err) {
			return read, err
		}
		if ctx.Err() != nil {
			return read, context.Cause(ctx)
		}
		if err := pace.Wait(ctx, s); err != nil {
			return read, err
		}
	}
}
