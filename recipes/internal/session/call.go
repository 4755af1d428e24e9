package session

import (
	"context"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"
)

// maxCalls is how many requests of a session may wait for answers at a time. More
// would not be answered sooner, and each has a goroutine: a thousand contenders
// that come together would leave a thousand stacks behind.
const maxCalls = 64

// Call runs one blocking request on the session's Conn and waits for it, for
// ctx, or for the end of the session. When the caller has gone, abandoned (if
// not nil) is given what came of the request: a node that was created all the
// same must be deleted by somebody.
//
// The goroutine of a request belongs to the session and ends with the answer,
// the connection or the session. There are at most maxCalls of them at a time.
func Call[T any](ctx context.Context, s *Session, request func() (T, error), abandoned func(T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result) // unbuffered: either the caller takes the result or abandoned does
	gone := make(chan struct{})
	var zero T
	select {
	case s.calls <- struct{}{}: // also when ctx has ended: it may be a clean-up
	default:
		select {
		case s.calls <- struct{}{}:
		case <-ctx.Done():
			if abandoned != nil {
				abandoned(zero, zk.ErrNoServer) // it was never sent
			}
			return zero, context.Cause(ctx)
		case <-s.Ended:
			return zero, ErrEnded
		}
	}
	if !s.Spawn(func() {
		var r result
		r.value, r.err = request()
		<-s.calls
		r.err = Sent(r.err)
		select {
		case done <- r:
		case <-gone:
			if abandoned != nil {
				abandoned(r.value, r.err)
			}
		}
	}) {
		<-s.calls
		return zero, ErrEnded
	}
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		close(gone)
		return zero, context.Cause(ctx)
	case <-s.Ended:
		close(gone)
		return zero, ErrEnded
	}
}

// GaveUp reports whether err is what call returned because ctx had ended: then
// abandoned is in charge of the request. That ctx has ended by now does not say
// so: the connection may have broken just before.
func GaveUp(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Cause(ctx))
}

// Retry repeats a request that is safe to repeat until a server answers it.
func Retry[T any](ctx context.Context, s *Session, request func() (T, error)) (T, error) {
	for {
		value, err := Call(ctx, s, request, nil)
		if err == nil || Answered(err) {
			return value, err
		}
		if ctx.Err() != nil {
			return value, context.Cause(ctx)
		}
		if err := s.AwaitUp(ctx); err != nil {
			return value, err
		}
	}
}

// Answered reports whether err is a server's answer, or this package's own.
// Any other error (the connection closed, an error of the network) leaves open
// whether the request was carried out.
//
// Some errors of servers are none of go-zookeeper's, such as those of an enforced quota
// (-125), of a local session that is not upgraded (-120), of throttling (-127). It says so in
// text alone.
func Answered(err error) bool {
	if err != nil && strings.HasPrefix(err.Error(), "unknown error: ") {
		return true
	}
	for _, known := range []error{
		zk.ErrNoNode, zk.ErrNodeExists, zk.ErrNotEmpty, zk.ErrBadVersion,
		zk.ErrNoAuth, zk.ErrAuthFailed, zk.ErrInvalidACL, zk.ErrNoChildrenForEphemerals,
		zk.ErrBadArguments, zk.ErrInvalidPath, zk.ErrInvalidFlags, zk.ErrAPIError,
		ErrEnded, ErrClosed, ErrTooLarge, ErrBadPath,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// Sent makes sense of the error of a request that the Conn did not send.
func Sent(err error) error {
	if errors.Is(err, zk.ErrShortBuffer) {
		return ErrTooLarge
	}
	return err
}
