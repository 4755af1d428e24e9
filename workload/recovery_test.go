package workload

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestARecoveryGoesOnForLongerOnASlowMachine(t *testing.T) {
	const bound = 8 * time.Second
	hang := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	takes := func(d time.Duration) func(context.Context) error {
		return func(context.Context) error { time.Sleep(d); return nil }
	}
	slowOnce := true
	for name, in := range map[string]struct {
		write    func(context.Context) error
		end      time.Duration // of all; 0: never
		lasts    time.Duration
		measured time.Duration
	}{
		"fast":                   {takes(3 * time.Millisecond), 0, bound, 3 * time.Millisecond},
		"slow":                   {takes(30 * time.Millisecond), 0, 3 * bound, 30 * time.Millisecond},
		"too slow":               {takes(300 * time.Millisecond), 0, slowest * bound, 300 * time.Millisecond},
		"no answer":              {hang, 0, slowest * bound, writeWithin},
		"no link":                {func(context.Context) error { return errors.New("no link") }, 0, bound, 0},
		"over soon":              {takes(30 * time.Millisecond), time.Second, time.Second, 30 * time.Millisecond},
		"over before any answer": {hang, 500 * time.Millisecond, 500 * time.Millisecond, 0},
		"the first one alone slow": {func(ctx context.Context) error {
			if slowOnce {
				slowOnce = false
				time.Sleep(900 * time.Millisecond)
			}
			return nil
		}, 0, bound, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if in.end > 0 {
					defer time.AfterFunc(in.end, cancel).Stop()
				}
				began := time.Now()
				measured := waitForRecovery(ctx, bound, in.write)
				lasted := time.Since(began)
				if in.end == 0 {
					lasted -= recoveryGrace
				}
				if late := lasted - in.lasts; late < 0 || late > writeWithin || measured != in.measured {
					t.Errorf("it lasted %v, and a write took %v; want %v and %v", lasted, measured, in.lasts, in.measured)
				}
			})
		})
	}
}
