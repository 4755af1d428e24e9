package recipes_test

import (
	"sync"
	"time"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// sleeper is the clock of a machine that sleeps when a test says so: it goes on, and Go's
// clock does not.
type sleeper struct {
	mu     sync.Mutex
	slept  time.Duration
	alarms []*sleeperAlarm
}

func (s *sleeper) Now() time.Time { return time.Now().Add(s.Slept()) }

func (s *sleeper) Slept() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.slept
}

func (s *sleeper) NewAlarm() session.Alarm {
	a := &sleeperAlarm{clock: s, rings: make(chan struct{}, 1), closed: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alarms = append(s.alarms, a)
	return a
}

// sleep puts the machine to sleep for a time. It wakes at once.
func (s *sleeper) sleep(d time.Duration) {
	s.mu.Lock()
	s.slept += d
	alarms := s.alarms
	s.mu.Unlock()
	for _, a := range alarms {
		a.woken()
	}
}

// sleeperAlarm is an alarm by a sleeper's clock.
type sleeperAlarm struct {
	clock         *sleeper
	rings, closed chan struct{}

	mu    sync.Mutex
	due   time.Time // by the clock
	timer *time.Timer
}

func (a *sleeperAlarm) Set(after time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.due = a.clock.Now().Add(after)
	if a.timer == nil {
		a.timer = time.AfterFunc(after, a.ring)
	}
	a.timer.Reset(after)
}

// woken has the alarm ring at the time that it was set for.
func (a *sleeperAlarm) woken() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil && a.timer.Stop() {
		a.timer.Reset(max(0, a.due.Sub(a.clock.Now())))
	}
}

func (a *sleeperAlarm) ring() {
	select {
	case a.rings <- struct{}{}:
	default:
	}
}

func (a *sleeperAlarm) Wait() bool {
	select {
	case <-a.rings:
		return true
	case <-a.closed:
		return false
	}
}

func (a *sleeperAlarm) Close() { close(a.closed) }
