// Package sleeper simulates a machine that sleeps, for tests.
package sleeper

import (
	"sync"
	"time"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Clock is the clock of a machine that sleeps when a test says so: it goes on during the
// sleep, and Go's clock does not. The zero value is ready.
type Clock struct {
	mu     sync.Mutex
	slept  time.Duration
	alarms []*alarm
}

// Now implements session.Clock.
func (c *Clock) Now() time.Time { return time.Now().Add(c.Slept()) }

// Slept implements session.Clock.
func (c *Clock) Slept() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.slept
}

// NewAlarm implements session.Clock.
func (c *Clock) NewAlarm() session.Alarm {
	a := &alarm{clock: c, rings: make(chan struct{}, 1), closed: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.alarms = append(c.alarms, a)
	return a
}

// Sleep puts the machine to sleep for a time. In real time it wakes at once.
func (c *Clock) Sleep(d time.Duration) {
	c.mu.Lock()
	c.slept += d
	alarms := c.alarms
	c.mu.Unlock()
	for _, a := range alarms {
		a.woken()
	}
}

// Alarms returns the number of alarms that there have been, and the number of those that
// are not closed.
func (c *Clock) Alarms() (all, open int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.alarms {
		select {
		case <-a.closed:
		default:
			open++
		}
	}
	return len(c.alarms), open
}

// alarm is an alarm by a Clock.
type alarm struct {
	clock         *Clock
	rings, closed chan struct{}

	mu    sync.Mutex
	due   time.Time // by the clock
	timer *time.Timer
}

func (a *alarm) Set(after time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.due = a.clock.Now().Add(after)
	if a.timer == nil {
		a.timer = time.AfterFunc(after, a.ring)
	}
	a.timer.Reset(after)
}

// woken makes the alarm ring at the time that it was set for.
func (a *alarm) woken() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil && a.timer.Stop() {
		a.timer.Reset(max(0, a.due.Sub(a.clock.Now())))
	}
}

func (a *alarm) ring() {
	select {
	case a.rings <- struct{}{}:
	default:
	}
}

func (a *alarm) Wait() bool {
	select {
	case <-a.rings:
		return true
	case <-a.closed:
		return false
	}
}

func (a *alarm) Close() { close(a.closed) }
