package recipes

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
)

// deleteInBackground deletes the node at path, again and again until it is gone
// or the session has ended and will take it along. Never under the context of a
// call: that may be the very thing that ended (vitess #15756). The channel is
// closed when there is nothing left to do.
//
// Names hold a random guid, so that a late delete cannot hit another's node
// (etcd #22082, zk-ruby #34).
func (s *session) deleteInBackground(path string) <-chan struct{} {
	return s.background(func(ctx context.Context) error {
		_, err := call(ctx, s, func() (struct{}, error) { return struct{}{}, s.conn.Delete(path, -1) }, nil)
		if errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		return err
	})
}

// deleteByGUID deletes the node with this guid if there is one: the create was
// never answered.
func (s *session) deleteByGUID(dir, guid string) <-chan struct{} {
	return s.background(func(ctx context.Context) error {
		path, err := findByGUID(ctx, s, dir, guid)
		if err != nil || path == "" {
			return err
		}
		err = s.conn.Delete(path, -1)
		if errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		return err
	})
}

// background repeats step until it succeeds or the session ends. Its goroutine
// belongs to the session.
func (s *session) background(step func(context.Context) error) <-chan struct{} {
	done := make(chan struct{})
	ctx := s.quit
	if !s.spawn(func() {
		defer close(done)
		for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
			if s.awaitUp(ctx) != nil || step(ctx) == nil {
				return
			}
			select {
			case <-time.After(pause):
			case <-s.ended:
				return
			}
		}
	}) {
		close(done)
	}
	return done
}
