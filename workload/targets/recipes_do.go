package targets

import (
	"context"
	"errors"
	"fmt"
	"sync"

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
	over  chan struct{} // closed when the call has returned err
	err   error
}

type doneByKey struct{}

// begin calls do, and returns the lease once it has called its function. The end of ctx counts until
// then. The goroutine of the call ends soon after the lease.
func begin(ctx context.Context, do func(context.Context, func(context.Context, *recipes.Lease) error) error) (*recipes.Lease, error) {
	inner, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	given := context.AfterFunc(ctx, func() { stop(context.Cause(ctx)) })
	left, got := make(chan struct{}), make(chan struct{})
	d := &doneBy{stop: stop, over: make(chan struct{}), leave: sync.OnceFunc(func() { close(left) })}
	go func() {
		defer close(d.over)
		defer stop(nil)
		d.err = do(context.WithValue(inner, doneByKey{}, d), func(_ context.Context, l *recipes.Lease) error {
			d.lease = l
			close(got)
			select {
			case <-left:
			case <-l.Lost():
			}
			return nil
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

// end ends the call that holds the lease, if there is one, and waits for it until ctx ends.
func end(ctx context.Context, l *recipes.Lease) error {
	d, ok := l.Context().Value(doneByKey{}).(*doneBy)
	if !ok || d.lease != l {
		return l.Release(ctx)
	}
	d.leave()
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
	if ctx.Err() == nil && released == nil && d.err != nil || errors.Is(d.err, recipes.ErrLeaseLost) && !errors.Is(released, recipes.ErrLeaseLost) {
		return errors.Join(released, fmt.Errorf("the result of Do is another: %w", d.err))
	}
	return released
}
