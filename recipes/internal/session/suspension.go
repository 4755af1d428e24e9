package session

import "time"

// suspension is the state of a session that cannot reach its leader. The session's lock is
// its lock.
type suspension struct {
	on         bool
	heard      time.Time   // send time of the last request that a server answered
	introduced bool        // the listeners know of the session
	lostBy     time.Time   // the leases' deadline in a suspension, if there is one
	giveUp     *time.Timer // runs during a suspension
	counting   bool        // giveUp has not yet found that the session may be lost
}

// introduce tells the listeners of a session that can be used. They hear nothing of other
// sessions.
func (s *Session) introduce() {
	s.With(func(l Locked) {
		if s.over {
			return
		}
		s.suspension.introduced = true
		s.states.tell(StateReconnected)
		if s.suspension.on {
			l.tellSuspended(true)
		}
	})
}

// suspend tells the dependents that their session cannot reach its leader, or can
// again.
func (l Locked) suspend(suspended bool) {
	s := l.s
	if s.over || s.suspension.on == suspended {
		return
	}
	s.suspension.on = suspended
	l.tellSuspended(suspended)
	for d := range s.held {
		d.Suspend(suspended)
	}
}

// tellSuspended tells the listeners that the session's suspension has begun or
// ended.
func (l Locked) tellSuspended(suspended bool) {
	s, now := l.s, &l.s.suspension
	switch {
	case !now.introduced:
	case suspended:
		s.states.tell(StateSuspended)
		now.lostBy = time.Time{}
		if len(s.waiting) > 0 { // then the heartbeat has kept the evidence fresh
			now.lostBy = l.Deadline()
		}
		now.giveUp = time.AfterFunc(l.lostAt().Sub(s.cfg.Clock.Now()), s.giveUpIfDue)
		now.counting = true
		l.setAlarm()
	default:
		now.giveUp.Stop()
		now.counting = false
		s.states.tell(StateReconnected)
	}
}

// lostAt returns the instant at which a suspended session counts as lost.
func (l Locked) lostAt() time.Time {
	s := l.s
	at := s.suspension.heard.Add(s.timeout - margin(s.timeout))
	by := s.suspension.lostBy
	if by.IsZero() {
		return at
	}
	if now := l.Deadline(); now.After(by) { // an answer has come since
		by = now
	}
	if by.Before(at) {
		return by
	}
	return at
}

// giveUpIfDue runs when a suspended session may be lost. It does not end the session: if
// the servers have not ended it either, its contenders keep their places.
func (s *Session) giveUpIfDue() {
	s.With(func(l Locked) {
		if s.over || !s.suspension.on {
			return
		}
		if left := l.lostAt().Sub(s.cfg.Clock.Now()); left > 0 {
			s.suspension.giveUp.Reset(left) // a server without a leader goes on answering
			return
		}
		s.suspension.counting = false
		s.states.tell(StateLost)
	})
}

func (l Locked) tellEnded() {
	s := l.s
	if s.suspension.giveUp != nil {
		s.suspension.giveUp.Stop()
	}
	if s.suspension.introduced && s.life.Err() == nil { // else Close ended the session
		s.states.tell(StateLost)
	}
}
