package client

import (
	"context"
	"sync"
	"time"
)

// Standstills knows when the run's own process has stood still, as all of it does where
// the machine has too much to do: a goroutine that is due ten times in a stretch notes
// when it ran. What another goroutine was to note promptly may be late by a standstill.
type Standstills struct {
	Stretch time.Duration // of undisturbed running, after which whatever was due has run

	mu   sync.Mutex
	ran  time.Time    // when the goroutine ran last; zero while there is none
	late []standstill // that ended within the last stretch
}

// standstill is a time in which the process may not have run.
type standstill struct{ from, to time.Time }

// Watch watches until ctx ends.
func (s *Standstills) Watch(ctx context.Context) {
	due := time.NewTicker(s.Stretch / 10)
	defer due.Stop()
	for {
		s.note(time.Now())
		select {
		case <-due.C:
		case <-ctx.Done():
			s.note(time.Time{})
			return
		}
	}
}

// note takes in that the goroutine runs.
func (s *Standstills) note(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = s.before(now)
	s.ran = now
}

// Late returns for how long what is noted now may have been due: since the start of the
// first standstill that goes on, or has ended within the last stretch. 0 if there is none.
func (s *Standstills) Late(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if all := s.before(now); len(all) > 0 {
		return now.Sub(all[0].from)
	}
	return 0
}

// before returns the standstills that matter at a time, the one that goes on included. s
// is locked.
func (s *Standstills) before(now time.Time) (all []standstill) {
	for _, x := range s.late {
		if now.Sub(x.to) <= s.Stretch {
			all = append(all, x)
		}
	}
	if !s.ran.IsZero() && now.Sub(s.ran) > s.Stretch*3/10 {
		all = append(all, standstill{s.ran, now})
	}
	return all
}
