package session

import "time"

// Go's timers may be late by as long as the machine has slept. So a session that has leases, or
// that may soon be given up as lost, sets the alarm of its clock as well. When the alarm
// rings, all timers are set again.

// setAlarm sets the alarm, unless it is set. It need not be set anew when the deadline has
// moved on: that is done when it rings, which is once in a session timeout.
func (l Locked) setAlarm() {
	s := l.s
	if s.alarm == nil || s.alarmSet || s.over {
		return
	}
	due, any := l.due()
	if !any {
		return
	}
	if due <= 0 {
		due = margin(s.timeout) // its goroutine is about to run
	}
	s.alarmSet = true
	s.alarm.Set(due)
}

// due returns the time until the first timer is due, if there is one.
func (l Locked) due() (due time.Duration, any bool) {
	s := l.s
	if len(s.held) > 0 {
		due, any = l.Remaining(), true
	}
	if s.suspension.counting {
		left := l.lostAt().Sub(s.cfg.Clock.Now())
		if !any || left < due {
			due, any = left, true
		}
	}
	return due, any
}

// remind sets the timers again: the deadline has come closer, or the machine has slept.
func (l Locked) remind() {
	s := l.s
	left := l.Remaining()
	for d := range s.held {
		d.Remind(left)
	}
	if s.suspension.counting {
		s.suspension.giveUp.Reset(l.lostAt().Sub(s.cfg.Clock.Now()))
	}
	s.alarmSet = false
	l.setAlarm()
}

// awaitAlarm is the goroutine of the session's alarm. It ends when the alarm is closed,
// after the session has ended.
func (s *Session) awaitAlarm() {
	for s.alarm.Wait() {
		s.With(Locked.remind)
	}
}
