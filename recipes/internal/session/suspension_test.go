package session

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWhenASuspendedSessionIsGivenUpForLost(t *testing.T) {
	const timeout = 10 * time.Second // the margin is 500 ms
	for _, test := range []struct {
		name    string
		waiting bool          // the session has nodes in queues, and so a heartbeat
		answer  time.Duration // a request sent then is answered later; 0: none
		over    time.Duration // the answer confirms a connection that was asked for then; 0: none
		after   time.Duration
	}{
		{"a session timeout after the last request that was answered", false, 0, 0, 9 * time.Second},
		{"not before, when a server without a leader goes on answering", false, 3 * time.Second, 0, 12500 * time.Millisecond},
		{"nor a moment before", false, 300 * time.Millisecond, 0, 9800 * time.Millisecond},
		{"at the deadline of its leases", true, 0, 0, 5500 * time.Millisecond},
		{"at the deadline of its leases, also when such a server answers", true, 3 * time.Second, 0, 5500 * time.Millisecond},
		{"at the deadline of its leases that an answer has put off", true, 3 * time.Second, 2 * time.Second, 11500 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var told []State
				var at time.Duration
				s := listenedTo(t, timeout, func(s State) { told, at = append(told, s), time.Since(start) })
				s.suspension.heard = start.Add(-500 * time.Millisecond)
				s.seen.established(start.Add(-4 * time.Second))
				if test.waiting {
					s.waiting["/lock/node"] = struct{}{}
				}
				s.introduce()
				s.With(func(l Locked) { l.suspend(true) })
				if test.over > 0 {
					time.AfterFunc(test.over, func() { s.With(func(Locked) { s.seen.reconnected(time.Now()) }) })
				}
				if test.answer > 0 {
					by := local
					if test.over > 0 {
						by = confirmed
					}
					time.AfterFunc(test.answer, func() { connector{s}.answered(time.Now(), by) })
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if len(told) != 3 || told[1] != StateSuspended || told[2] != StateLost {
					t.Fatalf("told %v", told)
				}
				if at != test.after {
					t.Errorf("lost after %v, want %v", at, test.after)
				}
			})
		})
	}
}

// listenedTo returns a session that reports its states to told.
func listenedTo(t *testing.T, timeout time.Duration, told func(State)) *Session {
	return &Session{timeout: timeout, waiting: map[string]struct{}{}, common: &common{
		cfg:  Config{Clock: MachineClock()},
		life: t.Context(), states: states{told: told}, pace: &pace{},
	}}
}

// The deadline of leases that were waited for in one suspension has no part in the next one.
func TestASuspensionHasADeadlineOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = 10 * time.Second
		start := time.Now()
		var lost []time.Duration
		s := listenedTo(t, timeout, func(s State) {
			if s == StateLost {
				lost = append(lost, time.Since(start))
			}
		})
		s.seen.established(start)
		s.suspension.heard = start
		s.waiting["/lock/node"] = struct{}{}
		s.introduce()
		s.With(func(l Locked) { l.suspend(true) })
		time.Sleep(time.Second)
		s.With(func(l Locked) { l.suspend(false) })
		s.Untrack("/lock/node")
		s.With(func(l Locked) {
			s.suspension.heard = time.Now()
			l.suspend(true)
		})
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := 10500 * time.Millisecond; len(lost) != 1 || lost[0] != want { // the margin is 500 ms
			t.Errorf("lost at %v, want %v", lost, want)
		}
	})
}
