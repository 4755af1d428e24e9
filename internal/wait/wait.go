// Package wait waits until a time has passed or a context has ended, whichever is first.
package wait

import (
	"context"
	"time"
)

// For returns after d, or false as soon as ctx has ended. It does not wait if d is 0 or
// less.
func For(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// ForOr is For that returns when other is closed, too.
func ForOr(ctx context.Context, d time.Duration, other <-chan struct{}) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-other:
	}
}

// again is the pause of Until between two calls of done.
const again = 50 * time.Millisecond

// Until calls done until it returns true, the time is over, or ctx has ended.
func Until(ctx context.Context, within time.Duration, done func() bool) {
	end := time.Now().Add(within)
	for !done() && time.Now().Before(end) && ctx.Err() == nil {
		For(ctx, again)
	}
}
