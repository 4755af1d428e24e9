package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// call runs one blocking request on the session's Conn and waits for it, for
// ctx, or for the end of the session. When the caller has gone, abandoned (if
// not nil) is given what came of the request: a node that was created all the
// same must be deleted by somebody.
//
// The goroutine of a request belongs to the session and ends with the answer,
// the connection or the session.
func call[T any](ctx context.Context, s *session, request func() (T, error), abandoned func(T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result) // unbuffered: either the caller takes the result or abandoned does
	gone := make(chan struct{})
	var zero T
	if !s.spawn(func() {
		var r result
		r.value, r.err = request()
		select {
		case done <- r:
		case <-gone:
			if abandoned != nil {
				abandoned(r.value, r.err)
			}
		}
	}) {
		return zero, errSessionEnded
	}
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		close(gone)
		return zero, context.Cause(ctx)
	case <-s.ended:
		close(gone)
		return zero, errSessionEnded
	}
}

// gaveUp reports whether err is what call returned because ctx had ended: then
// abandoned is in charge of the request. That ctx has ended by now does not say
// so: the connection may have broken just before.
func gaveUp(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Cause(ctx))
}

// retry repeats a request that is safe to repeat until a server answers it.
func retry[T any](ctx context.Context, s *session, request func() (T, error)) (T, error) {
	for {
		value, err := call(ctx, s, request, nil)
		if err == nil || answered(err) {
			return value, err
		}
		if ctx.Err() != nil {
			return value, context.Cause(ctx)
		}
		if err := s.awaitUp(ctx); err != nil {
			return value, err
		}
	}
}

// answered reports whether err is a server's answer, or this package's own.
// Any other error (the connection closed, an error of the network) leaves open
// whether the request was carried out.
func answered(err error) bool {
	for _, known := range []error{
		zk.ErrNoNode, zk.ErrNodeExists, zk.ErrNotEmpty, zk.ErrBadVersion,
		zk.ErrNoAuth, zk.ErrAuthFailed, zk.ErrInvalidACL, zk.ErrNoChildrenForEphemerals,
		zk.ErrBadArguments, zk.ErrInvalidPath, zk.ErrInvalidFlags, zk.ErrAPIError,
		errSessionEnded, ErrClosed,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}
