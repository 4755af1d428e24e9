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
