package session

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
)

// AwaitNode waits until the node at path changes or goes, or until it is time to look
// again. A return without an error is only a reason to look: a caller that takes it for a
// change of the node passes too early (Curator GH-1290). czxid is that of the node that was
// seen, or 0: AwaitNode does not wait for a newer node at path. pace is for a node that was
// seen and is gone.
func AwaitNode(ctx context.Context, s *Session, path string, czxid int64, pace *Backoff) error {
	up, linkChanged := s.LinkState()
	if !up {
		return s.AwaitUp(ctx)
	}
	watch, err := Watch(ctx, s, path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return pace.Wait(ctx, s) // gone between look and watch (helix #44)
	case err != nil && Answered(err), err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		return s.AwaitUp(ctx)
	case czxid != 0 && watch.czxid > czxid: // another one by now
		return nil
	}
	fired, err := AwaitEvent(ctx, s, watch.Event, linkChanged, s.Timeout()) // a single watch is not to be trusted alone (ZOOKEEPER-3145)
	if fired {
		s.watches.fired(watch)
	}
	return err
}

// AwaitEvent waits for a watch that was set after linkChanged was obtained, or until it is
// time to look again: after patience, and after every reconnect, since a change may be
// missed there (kazoo #170).
func AwaitEvent(ctx context.Context, s *Session, event <-chan zk.Event, linkChanged <-chan struct{}, patience time.Duration) (fired bool, err error) {
	again := time.NewTimer(patience)
	defer again.Stop()
	select {
	case <-event:
		return true, nil
	case <-linkChanged:
		return false, nil
	case <-again.C:
		return false, nil
	case <-s.Ended:
		return false, ErrEnded // also while it waits (etcd #19597)
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// Pause waits for d.
func Pause(ctx context.Context, s *Session, d time.Duration) error {
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
		return nil
	case <-s.Ended:
		return ErrEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Stands asks the leader whether the node at path exists. The request is a write that
// changes nothing: a read may come from a server that has not heard of the node yet, and
// even a sync from a leader that has been deposed.
func Stands(ctx context.Context, s *Session, path string) (bool, error) {
	_, err := Retry(ctx, s, func() (struct{}, error) {
		_, err := s.Conn.Multi(&zk.CheckVersionRequest{Path: path, Version: -1})
		return struct{}{}, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	return err == nil, err
}
