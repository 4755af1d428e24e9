package wait

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestForWaitsForTheTimeOrTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		if !For(ctx, time.Second) || time.Since(start) != time.Second {
			t.Errorf("a second took %v", time.Since(start))
		}
		if !For(ctx, 0) || !For(ctx, -1) || time.Since(start) != time.Second {
			t.Error("no time was waited for")
		}
		time.AfterFunc(time.Second, cancel)
		if For(ctx, time.Hour) || time.Since(start) != 2*time.Second {
			t.Errorf("the end of the context was heard of after %v", time.Since(start))
		}
		if For(ctx, 0) {
			t.Error("the context had ended")
		}
	})
}
