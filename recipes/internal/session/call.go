package session

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
)

// maxCalls bounds how many requests of a session may wait for answers at a time. More
// requests would not be answered sooner, and each has a goroutine: a thousand contenders
// that come together would leave a thousand stacks behind.
const maxCalls = 64

// Call runs one blocking request on the session's Conn and waits for it, for ctx, or for
// the end of the session. When the caller has returned before the request, abandoned (if
// not nil) gets the outcome of the request: a node that it has created must still be
// deleted.
//
// The goroutine of a request belongs to the session and ends with the answer, the
// connection or the session. There are at most maxCalls of them at a time.
func Call[T any](ctx context.Context, s *Session, request func() (T, error), abandoned func(T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result) // unbuffered: either the caller takes the result or abandoned does
	gone := make(chan struct{})
	var zero T
	select {
	case s.calls <- struct{}{}: // also when ctx has ended: the request may be a clean-up
	default:
		select {
		case s.calls <- struct{}{}:
		case <-ctx.Done():
			if abandoned != nil {
				abandoned(zero, zk.ErrNoServer) // the request was never sent
			}
			return zero, context.Cause(ctx)
		case <-s.Ended:
			return zero, ErrEnded
		}
	}
	if !s.Spawn(func() {
		var r result
		r.value, r.err = ask(s, s.putOff, gone, request)
		<-s.calls
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

// Ask is Call for a goroutine of the session, which only the end of the session has to
// interrupt.
func Ask[T any](s *Session, request func() (T, error)) (T, error) {
	return ask(s, s.putOff, nil, request)
}

// GaveUp reports whether Call returned err because ctx had ended. Then abandoned handles
// the outcome of the request. An ended ctx alone does not show that: the connection may
// have broken just before.
func GaveUp(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Cause(ctx))
}

// Retry repeats a request that is safe to repeat until a server answers it. It pauses
// between tries, so that a request that ends the connection each time does not keep other
// requests from being answered.
func Retry[T any](ctx context.Context, s *Session, request func() (T, error)) (T, error) {
	for pace := (Backoff{Free: 1, Longest: 2 * time.Second}); ; {
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
		if err := pace.Wait(ctx, s); err != nil {
			return value, err
		}
	}
}
