package targets

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// doing is a mutex that an application may hold while a function of its own runs, by Mutex.Do.
type doing struct {
	*recipes.Mutex
	does bool
}

func (m doing) Acquire(ctx context.Context) (*recipes.Lease, error) {
	if !m.does {
		return m.Mutex.Acquire(ctx)
	}
	return begin(ctx, m.Do)
}

// doneBy is a call of Mutex.Do that holds a lock until the lease is released or lost.
type doneBy struct {
	lease *recipes.Lease
	leave func() // lets the function return
	stop  context.CancelCauseFunc
	last  func()        // lets the function go on until its context ends
	over  chan struct{} // closed when the call has returned err
	err   error
}

type doneByKey struct{}

// begin calls do, and returns the lease once it has called its function. The end of ctx counts until
// then. The goroutine of the call ends soon after the lease.
func begin(ctx context.Context, do func(context.Context, func(context.Context, *recipes.Lease) error) error) (*recipes.Lease, error) {
	inner, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	given := context.AfterFunc(ctx, func() { stop(context.Cause(ctx)) })
	left, stopped, got := make(chan struct{}), make(chan struct{}), make(chan struct{})
	d := &doneBy{stop: stop, over: make(chan struct{}), leave: sync.OnceFunc(func() { close(left) }), last: sync.OnceFunc(func() { close(stopped) })}
	go func() {
		defer close(d.over)
		defer stop(nil)
		d.err = do(context.WithValue(inner, doneByKey{}, d), func(held context.Context, l *recipes.Lease) error {
			d.lease = l
			close(got)
			select {
			case <-left:
				return errDone
			case <-l.Lost():
			case <-stopped:
			}
			select {
			case <-held.Done():
			case <-time.After(time.Second):
			}
			if held.Err() == nil {
				return errGoesOn
			}
			return errDone
		})
	}()
	select {
	case <-got:
	case <-d.over:
	}
	select {
	case <-got: // also if the lease is lost by now, and the call is over
		given()
		return d.lease, nil
	default:
		return nil, d.err
	}
}

// errDone is the error of the function, which the call has to return: with it Election.Run does not
// campaign again. errGoesOn is that of a function whose context has not ended with the lease or the call.
var (
	errDone   = errors.New("the function has ended")
	errGoesOn = errors.New("the context of the function goes on after the end of the lease or of the call")
)

// end ends the call that holds the lease, if there is one, and waits for it until ctx ends. Some functions
// are let go on until the context of the call has ended.
func end(ctx context.Context, l *recipes.Lease) error {
	d, ok := l.Context().Value(doneByKey{}).(*doneBy)
	if !ok || d.lease != l {
		return l.Release(ctx)
	}
	stops := l.Token().Zxid%4 == 0
	if stops {
		d.last()
		d.stop(errDone)
	} else {
		d.leave()
	}
	select {
	case <-d.over:
	case <-ctx.Done():
		d.stop(context.Cause(ctx))
		<-d.over
	}
	if ctx.Err() == nil && l.Err() == nil {
		return errors.New("the lease is held after Do has returned")
	}
	released := l.Release(ctx) // a second time, for its result
	lost, told := errors.Is(released, recipes.ErrLeaseLost), errors.Is(d.err, recipes.ErrLeaseLost)
	if !errors.Is(d.err, errDone) || told && !lost || lost && !told && !stops && ctx.Err() == nil {
		return fmt.Errorf("the call has returned %q, and the release %q", fmt.Sprint(d.err), fmt.Sprint(released))
	}
	return released
}
