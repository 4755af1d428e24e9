package session

import (
	"context"
	"time"
)

// Clock is the clock by which sessions judge their deadlines. The servers count a session
// down while the machine of its client sleeps, but Go's clock may stand still then: on
// Linux it is CLOCK_MONOTONIC, and Go's timers are late by as long as the machine has
// slept.
type Clock interface {
	// Now returns the time, which also goes on while the machine sleeps. It may be compared
	// only with other times of the same clock, not with those of time.Now.
	Now() time.Time

	// Slept returns by how much the clock has gone ahead of time.Now.
	Slept() time.Duration

	// NewAlarm returns an alarm that rings by this clock, or nil when Go's timers go by
	// this clock.
	NewAlarm() Alarm
}

// Alarm rings once for each time that it is set. If its time comes while the machine
// sleeps, it rings when the machine wakes.
type Alarm interface {
	// Set makes the alarm ring after a time, and cancels the time that was set before.
	Set(after time.Duration)

	// Wait waits until the alarm rings. It returns false when the alarm is closed.
	Wait() bool

	Close()
}

// clockKey is the key of the clock in a context.
type clockKey struct{}

// WithClock returns a context for connecting clients whose machine has this clock. Tests
// use it to simulate a machine.
func WithClock(ctx context.Context, c Clock) context.Context {
	return context.WithValue(ctx, clockKey{}, c)
}

// ClockOf returns the clock of the machine of a client that connects with ctx.
func ClockOf(ctx context.Context) Clock {
	if c, simulated := ctx.Value(clockKey{}).(Clock); simulated {
		return c
	}
	return MachineClock()
}

// goClock is Go's clock. It is used where it goes on while the machine sleeps, where the
// machine's clock cannot be read, and where Go's clock is not the machine's, as in a bubble
// of testing/synctest.
type goClock struct{}

func (goClock) Now() time.Time       { return time.Now() }
func (goClock) Slept() time.Duration { return 0 }
func (goClock) NewAlarm() Alarm      { return nil }
