package links

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// slowDriver has proxies that are slow to release their port, the only one.
type slowDriver struct {
	takes time.Duration
	taken atomic.Bool
}

func (d *slowDriver) open(string, string, string, []toxic) (proxy, error) {
	if !d.taken.CompareAndSwap(false, true) {
		return nil, fmt.Errorf("listen: %w", syscall.EADDRINUSE)
	}
	return &slowProxy{d}, nil
}

type slowProxy struct{ driver *slowDriver }

func (*slowProxy) add(toxic) error     { return nil }
func (*slowProxy) remove(string) error { return nil }

func (p *slowProxy) stop() error {
	time.Sleep(p.driver.takes)
	p.driver.taken.Store(false)
	return nil
}

func TestALinkHealsThoughItsLastProxyTakesLongToStop(t *testing.T) {
	for takes, heals := range map[time.Duration]bool{stopLimit / 2: true, stopLimit + time.Second: true, time.Minute: false} {
		t.Run(takes.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLink(&slowDriver{takes: takes}, "a", "b:1", "127.0.0.1:2", "127.0.0.1:2", func() {})
				if err := l.replace(t.Context(), condition{}); err != nil {
					t.Fatal(err)
				}
				if err := l.Cut(t.Context(), BlackHole); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				start := time.Now()
				err := l.Heal(ctx)
				if heals && err != nil || !heals && !errors.Is(err, syscall.EADDRINUSE) || time.Since(start) > 8*time.Second {
					t.Errorf("error %v after %v", err, time.Since(start))
				}
				time.Sleep(2 * time.Minute) // goroutines left behind end
			})
		})
	}
}

// TestAChangeThatIsGivenUpSharesNothingWithTheNext is for the race detector: a change
// that has begun goes on after its context ends.
func TestAChangeThatIsGivenUpSharesNothingWithTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLink(&slowDriver{}, "a", "b:1", "127.0.0.1:2", "127.0.0.1:2", func() {})
		if err := l.replace(t.Context(), condition{}); err != nil {
			t.Fatal(err)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		for range 100 {
			_ = l.Delay(ended, time.Millisecond, 0) // it may have succeeded
			if err := l.Heal(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
