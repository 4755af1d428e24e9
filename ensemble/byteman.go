package ensemble

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble/failpoints"
)

// HasFailpoints reports whether the servers were started with Byteman. On a nil value it
// returns true: StartLocal finds out whether Byteman is installed.
func (l *Local) HasFailpoints() bool { return l == nil || l.byteman != "" }

// Agent implements Failpoints.
func (l *Local) Agent(id int) failpoints.Agent {
	return failpoints.Agent{Addr: loopback(l.servers[id-1].agent)}
}

// byteman returns the path of Byteman's jar if LocalConfig.Failpoints is set.
func (c *LocalConfig) byteman() (jar string, err error) {
	if !c.Failpoints {
		return "", nil
	}
	return FindByteman()
}

// clockFile has the rule of a server's clock, in the server's folder, where its JVM is started.
const clockFile = "clock.btm"

// agentFlag returns the JVM flags for failpoints and the clock, if they are asked for.
func (s *server) agentFlag() []string {
	if s.local.byteman == "" {
		return nil
	}
	return []string{failpoints.JVMFlag(s.local.byteman, s.agent, clockFile), "-D" + failpoints.ClockProperty + "=" + s.clock.value()}
}

// checkAgents returns an error unless Byteman answers in every server, if failpoints are
// asked for: a JVM whose port was taken goes on without Byteman.
func (l *Local) checkAgents(ctx context.Context) error {
	if l.byteman == "" {
		return nil
	}
	for _, s := range l.servers {
		if s.logged("Address already in use") {
			return fmt.Errorf("server %d: the port of Byteman: %w", s.ID, errPortLost)
		}
		if err := l.Agent(s.ID).Check(ctx); err != nil {
			return fmt.Errorf("server %d: %w", s.ID, err)
		}
	}
	return nil
}

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

// turn changes the rate, to five decimals; the clock neither jumps nor stops.
func (c *clock) turn(now int64, rate float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rate = failpoints.RoundRate(rate)
	c.ahead += int64(c.rate*float64(now)) - int64(rate*float64(now))
	c.rate = rate
}

// HasClocks reports whether the servers were started with Byteman. On a nil value it returns
// true.
func (l *Local) HasClocks() bool { return hasMonotonic && l.HasFailpoints() }

// SetClockRate implements Clocks. What a server measures by ZooKeeper's class Time has that
// rate: session timeouts, ticks, pings between servers. Timeouts of sockets do not.
func (l *Local) SetClockRate(ctx context.Context, id int, rate float64) error {
	if !l.HasClocks() || !(failpoints.RoundRate(rate) > 0) {
		return fmt.Errorf("server %d: no clock of the rate %v", id, rate)
	}
	s := l.servers[id-1]
	now, err := monotonic()
	if err != nil {
		return err
	}
	s.clock.turn(now, rate)
	// A server that is paused is told when it goes on. One that is not running starts
	// with the rate. One that has just started may not listen yet.
	for s.able() {
		told := make(chan error, 1)
		// Ends when the server has answered or ended, or the ensemble is closed.
		go func() { told <- l.Agent(id).Set(l.ctx, failpoints.ClockProperty, s.clock.value()) }()
		if err := s.await(ctx, told); err == nil || errors.Is(err, failpoints.ErrRefused) || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// await waits for a result, or until the server cannot answer.
func (s *server) await(ctx context.Context, result <-chan error) error {
	look := time.NewTicker(pollInterval)
	defer look.Stop()
	for {
		select {
		case err := <-result:
			return err
		case <-look.C:
			if !s.able() {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
