package recipes

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
)

// throughSessions runs f in the current session, and again in the next one as
// often as the session ends under it.
func (c *Client) throughSessions(ctx context.Context, f func(*session) error) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx) // before anything is sent
		}
		s, err := c.session(ctx)
		if err != nil {
			return err
		}
		if err := f(s); !errors.Is(err, errSessionEnded) {
			return err
		}
	}
}

// awaitNode waits until the node at path changes or goes, or until it is time
// to look again. A return without an error says nothing of the node: whoever
// takes a wake-up for more than a reason to look passes too early (Curator
// GH-1290).
func (s *session) awaitNode(ctx context.Context, path string) error {
	up, linkChanged := s.linkState()
	if !up {
		return s.awaitUp(ctx)
	}
	watch, err := s.watch.on(ctx, s, path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return nil // gone between look and watch (helix #44)
	case err != nil && answered(err), err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		return s.awaitUp(ctx)
	}
	fired, err := s.awaitEvent(ctx, watch.event, linkChanged, s.pollAfter())
	if fired {
		s.watch.fired(watch)
	}
	return err
}

// pollAfter is when to look again although no watch has fired: a single watch is
// not to be trusted alone (ZOOKEEPER-3145).
func (s *session) pollAfter() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.timeout
}

// awaitEvent waits for a watch that was set after linkChanged was got, or until
// it is time to look again: after patience, and after every reconnect, since a
// change may be missed there (kazoo #170).
func (s *session) awaitEvent(ctx context.Context, event <-chan zk.Event, linkChanged <-chan struct{}, patience time.Duration) (fired bool, err error) {
	again := time.NewTimer(patience)
	defer again.Stop()
	select {
	case <-event:
		return true, nil
	case <-linkChanged:
		return false, nil
	case <-again.C:
		return false, nil
	case <-s.ended:
		return false, errSessionEnded // also while it waits (etcd #19597)
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// pause waits for d.
func (s *session) pause(ctx context.Context, d time.Duration) error {
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
		return nil
	case <-s.ended:
		return errSessionEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// stands asks the leader whether the node at path is there. The question is a
// write that changes nothing: a read may come from a server that has not heard
// of the node yet, and even a sync from a leader that has been deposed.
func (s *session) stands(ctx context.Context, path string) (bool, error) {
	_, err := retry(ctx, s, func() (struct{}, error) {
		_, err := s.conn.Multi(&zk.CheckVersionRequest{Path: path, Version: -1})
		return struct{}{}, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	return err == nil, err
}
