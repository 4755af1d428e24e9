package session

import (
	"context"
	"time"
)

// Clock is what sessions judge their deadlines by. The servers count a session down while
// the machine of its client sleeps, and Go's clock may stand still then: on Linux it is
// CLOCK_MONOTONIC, and Go's timers are late by as long as the machine has slept.
type Clock interface {
	// Now returns the time, which also goes on while the machine sleeps. It is to be
	// compared with other times of the same clock alone, not with those of time.Now.
	Now() time.Time

	// Slept returns by how much the clock has gone ahead of time.Now.
	Slept() time.Duration

	// NewAlarm returns an alarm that rings by this clock, or nil when Go's timers do.
	NewAlarm() Alarm
}

// Alarm rings once each time that it has been set, and at once when its time has come while
// the machine slept.
type Alarm interface {
	// Set has the alarm ring after a time, and not at the one that was set before.
	Set(after time.Duration)

	// Wait waits until the alarm rings. It returns false when the alarm is closed.
	Wait() bool

	Close()
}

// clockKey is the key of the clock in a context.
type clockKey struct{}

// WithClock returns a context in which clients connect that run on a machine with this clock: one
// that a test has simulated.
func WithClock(ctx context.Context, c Clock) context.Context {
	return context.WithValue(ctx, clockKey{}, c)
}

// ClockOf returns the clock of the machine that a client runs on which connects with ctx.
func ClockOf(ctx context.Context) Clock {
	if c, simulated := ctx.Value(clockKey{}).(Clock); simulated {
		return c
	}
	return MachineClock()
}

// goClock is Go's clock. It is right where that counts the sleep, where the machine's clock
// cannot be read, and where Go's clock is none of the machine's, as in a bubble of
// testing/synctest.
type goClock struct{}

func (goClock) Now() time.Time       { return time.Now() }
func (goClock) Slept() time.Duration { return 0 }
func (goClock) NewAlarm() Alarm      { return nil }
