package session

import (
	"testing"
	"testing/synctest"
	"time"
)

// stopping is the clock of a process that a test stops, or whose machine it puts to sleep.
// The clock goes on then, and the clock of timers does not. The session's lock is its lock.
type stopping struct {
	goClock
	ahead, slept time.Duration
}

func (c *stopping) Now() time.Time       { return time.Now().Add(c.ahead) }
func (c *stopping) Slept() time.Duration { return c.slept }

// stop stops the process. When the process goes on, a timer that was due has run, or is
// about to.
func (c *stopping) stop(s *Session, d time.Duration) {
	s.With(func(Locked) {
		c.ahead += d
		s.pulse.timer.Reset(s.pulse.due.Sub(c.Now()))
	})
}

func TestALossIsOfAProcessThatDidNotRunForHalfOfTheTimeThatMatters(t *testing.T) {
	const (
		timeout = 6 * time.Second
		overdue = 2 * time.Second
		window  = timeout - timeout/20 - overdue
	)
	run := func(d time.Duration) func(*Session, *stopping) {
		return func(*Session, *stopping) { time.Sleep(d) }
	}
	stop := func(d time.Duration) func(*Session, *stopping) {
		return func(s *Session, c *stopping) { c.stop(s, d) }
	}
	sleep := func(d time.Duration) func(*Session, *stopping) {
		return func(s *Session, c *stopping) { s.With(func(Locked) { c.ahead, c.slept = c.ahead+d, c.slept+d }) }
	}
	beat := func(s *Session, c *stopping) { s.With(func(Locked) { s.seen.established(c.Now()) }) }
	// sentBefore returns a heartbeat that was sent d ago and is answered now.
	sentBefore := func(d time.Duration) func(*Session, *stopping) {
		return func(s *Session, c *stopping) { s.With(func(Locked) { s.seen.established(c.Now().Add(-d)) }) }
	}
	noted := func(s *Session, _ *stopping) { // the timer runs
		s.With(func(Locked) { s.pulse.timer.Stop() })
		s.atPulse()
	}
	quota := func(running, stopped time.Duration) func(*Session, *stopping) {
		return func(s *Session, c *stopping) {
			for range (timeout - timeout/20) / (running + stopped) {
				time.Sleep(running)
				c.stop(s, stopped)
			}
		}
	}
	type steps []func(*Session, *stopping)
	for name, c := range map[string]struct {
		steps  steps
		reason Loss
		want   Loss
	}{
		"it ran, and nothing was answered":                 {steps{run(timeout)}, DeadlinePassed, DeadlinePassed},
		"it ran, and the session expired":                  {steps{run(timeout)}, Expired, Expired},
		"it was stopped all the time":                      {steps{run(overdue / 2), stop(timeout)}, DeadlinePassed, ProcessPaused},
		"the timer runs first when it goes on":             {steps{run(overdue / 2), stop(timeout), noted}, DeadlinePassed, ProcessPaused},
		"the server's answer is first when it goes on":     {steps{run(overdue / 2), stop(timeout)}, Expired, ProcessPaused},
		"the end of the link is first when it goes on":     {steps{run(overdue / 2), stop(timeout)}, LinkSuspended, ProcessPaused},
		"an old answer is first when it goes on":           {steps{run(overdue / 2), stop(timeout), sentBefore(timeout)}, DeadlinePassed, ProcessPaused},
		"the timer, and then an old answer":                {steps{run(overdue / 2), stop(timeout), noted, sentBefore(timeout)}, DeadlinePassed, ProcessPaused},
		"the link ended before the deadline":               {steps{run(overdue / 2), stop(timeout / 2)}, LinkSuspended, LinkSuspended},
		"the node was deleted":                             {steps{run(overdue / 2), stop(timeout)}, NodeDeleted, NodeDeleted},
		"the client was closed":                            {steps{run(overdue / 2), stop(timeout)}, ClientClosed, ClientClosed},
		"it was stopped before a heartbeat was overdue":    {steps{stop(overdue), run(timeout)}, DeadlinePassed, DeadlinePassed},
		"it was stopped before the last heartbeat":         {steps{run(overdue / 2), stop(timeout), noted, beat, run(timeout)}, DeadlinePassed, DeadlinePassed},
		"it was stopped after the deadline alone":          {steps{run(timeout - timeout/20), stop(time.Hour)}, DeadlinePassed, DeadlinePassed},
		"it was stopped shortly before the deadline":       {steps{run(timeout - timeout/10), stop(time.Hour)}, DeadlinePassed, DeadlinePassed},
		"it was stopped for half of the time":              {steps{run(overdue), stop(window/2 + closePulse), run(timeout)}, DeadlinePassed, ProcessPaused},
		"it was stopped for less than half of the time":    {steps{run(overdue), stop(window/2 - closePulse), run(timeout)}, DeadlinePassed, DeadlinePassed},
		"its machine slept all the time":                   {steps{run(overdue / 2), sleep(timeout)}, DeadlinePassed, ProcessPaused},
		"its machine slept, and the timer runs first":      {steps{run(overdue / 2), sleep(timeout), noted}, DeadlinePassed, ProcessPaused},
		"its machine slept to the deadline":                {steps{run(overdue), sleep(window)}, DeadlinePassed, ProcessPaused},
		"its machine slept before a heartbeat was overdue": {steps{sleep(overdue), run(timeout)}, DeadlinePassed, DeadlinePassed},
		"it had a third of a processor":                    {steps{quota(100*time.Millisecond, 200*time.Millisecond)}, DeadlinePassed, ProcessPaused},
		"it had a twentieth of a processor":                {steps{quota(5*time.Millisecond, 95*time.Millisecond)}, DeadlinePassed, ProcessPaused},
		"it had five sixths of a processor":                {steps{quota(500*time.Millisecond, 100*time.Millisecond)}, DeadlinePassed, DeadlinePassed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := new(stopping)
				s := &Session{common: &common{cfg: Config{Clock: clock}}, timeout: timeout, held: make(map[Dependent]struct{})}
				beat(s, clock)
				s.With(func(l Locked) { l.Add(&timed{}) })
				for _, step := range c.steps {
					step(s, clock)
				}
				s.With(func(l Locked) {
					if got := l.Why(c.reason); got != c.want {
						t.Errorf("%v, want %v", got, c.want)
					}
					s.over = true
					s.pulse.timer.Stop()
				})
			})
		})
	}
}

// The timer ends with the leases, and does not keep gaps that no longer matter.
func TestThePulseEndsWithTheLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := new(stopping)
		s := &Session{common: &common{cfg: Config{Clock: clock}}, timeout: time.Second, held: make(map[Dependent]struct{})}
		d := new(timed)
		s.seen.established(clock.Now())
		s.With(func(l Locked) { l.Add(d) })
		for range 100 {
			time.Sleep(100 * time.Millisecond)
			clock.stop(s, 50*time.Millisecond)
			s.With(func(Locked) { s.seen.established(clock.Now()) })
		}
		s.With(func(l Locked) {
			if n := len(s.pulse.gaps); n > 3 {
				t.Errorf("it keeps %d gaps", n)
			}
			l.Remove(d)
		})
		time.Sleep(time.Second)
		s.With(func(Locked) {
			if !s.pulse.due.IsZero() || s.pulse.timer.Stop() {
				t.Error("the timer goes on without leases")
			}
		})
	})
}
