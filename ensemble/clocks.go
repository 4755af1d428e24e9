package ensemble

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble/failpoints"
)

// clock is the clock of a local server with Byteman: it shows rate × t + ahead when the
// machine's monotonic clock, which is that of a JVM on Linux, shows t, in milliseconds.
type clock struct {
	mu    sync.Mutex
	rate  float64
	ahead int64
}

// value returns the JVM's property for the clock.
func (c *clock) value() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return failpoints.ClockValue(c.rate, c.ahead)
}

// turn changes the rate; the clock neither jumps nor stops.
func (c *clock) turn(now int64, rate float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += int64(c.rate*float64(now)) - int64(rate*float64(now))
	c.rate = rate
}

// HasClocks reports whether the servers were started with Byteman. On a nil value it returns
// true.
func (l *Local) HasClocks() bool { return hasMonotonic && l.HasFailpoints() }

// SetClockRate implements Clocks. What a server measures by ZooKeeper's class Time has that
// rate: session timeouts, ticks, pings between servers. Timeouts of sockets do not.
func (l *Local) SetClockRate(ctx context.Context, id int, rate float64) error {
	if !l.HasClocks() || !(rate > 0) {
		return fmt.Errorf("server %d: no clock of the rate %v", id, rate)
	}
	s := l.servers[id-1]
	now, err := monotonic()
	if err != nil {
		return err
	}
	s.clock.turn(now, rate)
	told := make(chan error, 1)
	// Ends when the server has answered or ended, or the ensemble is closed. A server that is
	// paused hears it when it goes on, and one that is not running starts with the rate.
	go func() { told <- l.Agent(id).Set(l.ctx, failpoints.ClockProperty, s.clock.value()) }()
	look := time.NewTicker(pollInterval)
	defer look.Stop()
	for {
		select {
		case err := <-told:
			if err != nil && s.able() {
				return fmt.Errorf("server %d: %w", id, err)
			}
			return nil
		case <-look.C:
			if !s.able() {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
