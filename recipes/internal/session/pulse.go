package session

import "time"

// pulse measures for how long the process has not run: it was stopped by a signal or a
// debugger, had no processor, or its machine slept. A timer runs as long as the session has
// leases, and the delay of the timer is such a time.
//
// The delays matter only when a lease is lost, and only from when a heartbeat is overdue: a
// third of the timeout after the instant that the deadline counts from, since beats come
// twice as often. As long as beats are answered the timer runs six times in a session
// timeout, as they do. After that it runs every closePulse, so that it also sees the pauses
// of a process that has a quota of a processor.
//
// The session's lock is its lock, and the session's clock is its clock.
type pulse struct {
	timer    *time.Timer
	set, due time.Time     // when the timer was set, and when it is due; zero: it is not set
	slept    time.Duration // for how long the machine had slept when the timer was set
	gaps     []gap         // oldest first
}

// closePulse is the interval of the timer when a heartbeat is overdue. The period of a
// quota is 100 ms, unless configured.
const closePulse = 10 * time.Millisecond

// shortestGap is the least delay of a timer that counts as a gap. The timers of a running
// process are less late.
const shortestGap = time.Millisecond

// gap is a time during which the process did not run.
type gap struct{ from, to time.Time }

// within returns the part of a gap that lies between from and to.
func (g gap) within(from, to time.Time) time.Duration {
	if g.from.After(from) {
		from = g.from
	}
	if g.to.Before(to) {
		to = g.to
	}
	return max(0, to.Sub(from))
}

// overdue returns the instant from which a heartbeat that moves the deadline is overdue.
func (l Locked) overdue() time.Time { return l.s.seen.counted.Add(l.s.timeout / 3) }

// startPulse sets the timer, unless it is set already.
func (l Locked) startPulse() {
	if l.s.pulse.due.IsZero() {
		l.setPulse()
	}
}

func (l Locked) setPulse() {
	s := l.s
	now := s.cfg.Clock.Now()
	after := min(max(l.overdue().Sub(now), closePulse), s.timeout/6)
	s.pulse.set, s.pulse.due, s.pulse.slept = now, now.Add(after), s.cfg.Clock.Slept()
	if s.pulse.timer == nil {
		s.pulse.timer = time.AfterFunc(after, s.atPulse)
		return
	}
	s.pulse.timer.Reset(after)
}

// atPulse runs when the timer fires.
func (s *Session) atPulse() {
	s.With(func(l Locked) {
		if s.over {
			return
		}
		p := &s.pulse
		for len(p.gaps) > 0 && !p.gaps[0].to.After(l.overdue()) {
			p.gaps = p.gaps[1:]
		}
		p.gaps = append(p.gaps, l.late()...)
		if p.due = (time.Time{}); len(s.held) > 0 {
			l.setPulse()
		}
	})
}

// late returns the gaps that the timer, if it is set, has not noted yet. Go's timers stand
// still while the machine sleeps. The time of the sleep is not known: late assumes the
// earliest possible.
func (l Locked) late() (gaps []gap) {
	p, clock := &l.s.pulse, l.s.cfg.Clock
	if p.due.IsZero() {
		return nil
	}
	due := p.due
	if slept := clock.Slept() - p.slept; slept > 0 {
		gaps = append(gaps, gap{p.set, p.set.Add(slept)})
		due = due.Add(slept)
	}
	if now := clock.Now(); now.Sub(due) >= shortestGap {
		gaps = append(gaps, gap{due, now})
	}
	return gaps
}

// Why returns the reason for the loss of a dependent, given the apparent reason. When the
// deadline has passed, the reason is ProcessPaused if the process did not run for at least
// half of the time from when a heartbeat was overdue to the deadline. While the network
// works a heartbeat needs far less than the other half. Pauses after the deadline do not
// matter.
func (l Locked) Why(reason Loss) Loss {
	switch reason {
	case DeadlinePassed, Expired, LinkSuspended: // a process that runs again sees one of these
	default:
		return reason
	}
	from, to := l.overdue(), l.Deadline()
	if to.After(l.s.cfg.Clock.Now()) {
		return reason
	}
	var stopped time.Duration
	for _, g := range append(l.late(), l.s.pulse.gaps...) {
		stopped += g.within(from, to)
	}
	if 2*stopped >= to.Sub(from) {
		return ProcessPaused
	}
	return reason
}
