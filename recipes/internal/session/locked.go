package session

import (
	"slices"
	"time"
)

// Locked is a session that the caller has locked. Only With makes one. Code that runs with
// a locked session must not call the session's own methods, which lock it again.
type Locked struct{ s *Session }

// With calls f with the session locked.
func (s *Session) With(f func(Locked)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(Locked{s})
}

// Dependent is an object that is lost when its session ends, such as a lease. The session
// keeps its nodes for it. The methods are called with the session locked.
type Dependent interface {
	// Paths returns the paths of the nodes that the heartbeat checks.
	Paths() []string
	// Lose tells the dependent that it is lost. The dependent must remove itself.
	Lose(Locked, Loss)
	// Suspend tells the dependent that the session cannot reach its leader, or can again.
	Suspend(suspended bool)
	// Remind tells the dependent how long it is until the deadline: the deadline has come
	// closer, or timers may be late.
	Remind(left time.Duration)
}

// Loss is the reason for which a session, or a dependent of it, is lost. The zero Loss is
// none.
type Loss int

// The reasons.
const (
	Expired          Loss = iota + 1 // the servers have ended the session
	DeadlinePassed                   // no server has confirmed the session in time
	ProcessPaused                    // the same, because the process did not run
	LinkSuspended                    // the link is down, and leases must not outlast it
	NodeDeleted                      // another client has deleted a node of the dependent
	NotAuthenticated                 // the servers refuse the credentials
	ClientClosed
)

// Deadline returns the instant, by the session's clock, at which leases of this session
// stop being safe.
func (l Locked) Deadline() time.Time { return l.s.seen.deadline(l.s.timeout) }

// Remaining returns the time until the deadline. It is 0 or less after the deadline.
func (l Locked) Remaining() time.Duration { return l.Deadline().Sub(l.s.cfg.Clock.Now()) }

// Left returns the time until the deadline. It returns ErrEnded when the session is over,
// and ErrNotNow when a lease that begins now would be lost.
func (l Locked) Left() (time.Duration, error) {
	left := l.Remaining()
	if l.s.over {
		return 0, ErrEnded
	}
	if left <= 0 || !l.s.up && l.s.cfg.LoseOnSuspend {
		return 0, ErrNotNow
	}
	return left, nil
}

// Over reports whether the session has ended.
func (l Locked) Over() bool { return l.s.over }

// Suspended reports whether the session cannot reach its leader.
func (l Locked) Suspended() bool { return l.s.suspension.on }

// Add makes d a dependent of the session, until Remove.
func (l Locked) Add(d Dependent) {
	l.s.held[d] = struct{}{}
	l.setAlarm()
	l.startPulse()
}

// Remove removes a dependent from the session.
func (l Locked) Remove(d Dependent) { delete(l.s.held, d) }

// Spawn runs f in a goroutine of the session, which must not be over.
func (l Locked) Spawn(f func()) { l.s.wg.Go(f) }

func (l Locked) end(why Loss) {
	s := l.s
	if s.over {
		return
	}
	l.loseAll(why) // may still start goroutines of the session
	s.over = true
	if s.pulse.timer != nil {
		s.pulse.timer.Stop()
	}
	l.tellEnded()
	close(s.Ended)
	s.noDial(ErrEnded)
}

func (l Locked) loseAll(why Loss) {
	for d := range l.s.held {
		d.Lose(l, why)
	}
}

func (l Locked) loseNode(path string) {
	for d := range l.s.held {
		if slices.Contains(d.Paths(), path) {
			d.Lose(l, NodeDeleted)
		}
	}
}

// shorten applies the timeout that a reconnect has granted, if it is shorter. Servers whose
// maxSessionTimeout was lowered count the session down by the new timeout from then on
// (SessionTrackerImpl.touchSession). A longer timeout is not relied on: the next server may
// grant less again.
func (l Locked) shorten(timeout time.Duration) {
	s := l.s
	if timeout >= s.timeout {
		return
	}
	s.timeout = timeout
	l.remind()
	s.Nudge() // beats are due more often
}

// tellChanged makes all waiters for an event at the servers look again.
func (l Locked) tellChanged() {
	close(l.s.changed)
	l.s.changed = make(chan struct{})
}

func (l Locked) setUp(up bool) {
	s := l.s
	if s.up == up {
		return
	}
	s.up = up
	l.tellChanged()
	if !up && s.cfg.LoseOnSuspend {
		l.loseAll(LinkSuspended)
	}
	l.suspend(!up)
	s.Nudge()
}
