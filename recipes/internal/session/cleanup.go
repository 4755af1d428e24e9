package session

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// Remove deletes the node at path. It returns when the node is gone, when the session or
// ctx has ended, or when a server refuses. In the last two cases the deletion goes on in
// the background until the node is gone or its session has ended (CURATOR-79, kazoo #732).
// gone, if not nil, is called once when the node is known to be gone.
func Remove(ctx context.Context, s *Session, path string, gone func()) {
	_, err := Call(ctx, s, func() (struct{}, error) {
		err := s.Conn.Delete(path, -1)
		if err == nil || errors.Is(err, zk.ErrNoNode) {
			s.deleted(path, gone)
		}
		return struct{}{}, err
	}, func(_ struct{}, err error) {
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			DeleteInBackground(s, path, gone)
		}
	})
	switch {
	case err == nil, errors.Is(err, zk.ErrNoNode), errors.Is(err, ErrEnded), GaveUp(ctx, err):
		return
	}
	done := DeleteInBackground(s, path, gone)
	if Answered(err) {
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// RemoveHere is Remove for a goroutine of the session, which only the end of the session
// has to interrupt. It returns zk.ErrNoNode when the first try found no node, the error of
// a server that refused the first try, and otherwise nil.
func RemoveHere(s *Session, path string, gone func()) error {
	_, err := Ask(s, func() (struct{}, error) { return struct{}{}, s.Conn.Delete(path, -1) })
	if err == nil || errors.Is(err, zk.ErrNoNode) {
		s.deleted(path, gone)
		return err
	}
	done := DeleteInBackground(s, path, gone)
	if Answered(err) && !errors.Is(err, ErrEnded) {
		return err
	}
	<-done
	return nil
}

// RemoveAllHere removes several nodes, by one request if possible, and calls gone for each.
// It returns the first error.
func RemoveAllHere(s *Session, paths []string, gone func(path string)) error {
	if len(paths) > 1 {
		var ops []any
		for _, path := range paths {
			ops = append(ops, &zk.DeleteRequest{Path: path, Version: -1})
		}
		_, err := Ask(s, func() ([]zk.MultiResponse, error) { return s.Conn.Multi(ops...) })
		switch {
		case err == nil:
			for _, path := range paths {
				s.deleted(path, func() { gone(path) })
			}
			return nil
		case !Answered(err): // the request may have been carried out
			var done []<-chan struct{}
			for _, path := range paths {
				done = append(done, DeleteInBackground(s, path, func() { gone(path) }))
			}
			for _, each := range done {
				<-each
			}
			return nil
		} // another client has deleted one of them: remove each by itself
	}
	errs := make(chan error, len(paths))
	for _, path := range paths[1:] {
		if !s.Spawn(func() { errs <- RemoveHere(s, path, func() { gone(path) }) }) {
			errs <- ErrEnded
		}
	}
	err := RemoveHere(s, paths[0], func() { gone(paths[0]) })
	for range paths[1:] {
		if other := <-errs; err == nil {
			err = other
		}
	}
	return err
}

// DeleteInBackground deletes the node at path, again and again until it is gone or the
// session has ended, which deletes it too. It never uses the context of a call: the end of
// that context may be the reason for the deletion (vitess #15756). The channel is closed
// when nothing is left to do. gone, if not nil, is called before, when the node is known to
// be gone.
//
// Names hold a random guid, so that a late delete cannot hit another client's node (etcd
// #22082, zk-ruby #34).
func DeleteInBackground(s *Session, path string, gone func()) <-chan struct{} {
	return Background(s, func(ctx context.Context) error {
		_, err := Call(ctx, s, func() (struct{}, error) { return struct{}{}, s.Conn.Delete(path, -1) }, nil)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		s.deleted(path, gone)
		return nil
	})
}

// deleted is called when a node is known to be gone. It calls then, if not nil.
func (s *Session) deleted(path string, then func()) {
	s.gone(path)
	if then != nil {
		then()
	}
}

// DeleteByGUID deletes the nodes with this guid, if there are any, after a create that was
// never answered. gone, if not nil, is called when none is left.
func DeleteByGUID(s *Session, dir, guid string, gone func()) <-chan struct{} {
	return Background(s, func(ctx context.Context) error {
		paths, err := FindByGUID(ctx, s, dir, guid)
		for _, path := range paths {
			_, err = Ask(s, func() (struct{}, error) { return struct{}{}, s.Conn.Delete(path, -1) })
			if errors.Is(err, zk.ErrNoNode) {
				err = nil
			}
			if err != nil {
				break
			}
		}
		if err == nil {
			s.vacate(guid)
			if gone != nil {
				gone()
			}
		}
		return err
	})
}

// Background repeats step until it succeeds or the session ends, with pauses that grow to a
// session timeout, so that a server that refuses the step is asked less and less often. Its
// goroutine belongs to the session.
func Background(s *Session, step func(context.Context) error) <-chan struct{} {
	done := make(chan struct{})
	ctx := s.Quit
	if !s.Spawn(func() {
		defer close(done)
		pace := Backoff{Free: 1, Longest: max(longestPause, s.Timeout())}
		for s.AwaitUp(ctx) == nil && step(ctx) != nil && pace.Wait(ctx, s) == nil {
		}
	}) {
		close(done)
	}
	return done
}
