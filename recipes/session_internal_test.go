package recipes

import (
	"testing"
	"testing/synctest"
	"time"
)

// Servers whose maxSessionTimeout was lowered grant less when a client reconnects, and
// count its session down by that.
func TestALeaseKeepsToTheShortestTimeoutThatWasGranted(t *testing.T) {
	for _, test := range []struct {
		name    string
		granted []time.Duration // on each reconnect
		want    time.Duration   // session timeout
	}{
		{"none", nil, 3 * time.Second},
		{"a shorter one", []time.Duration{time.Second}, time.Second},
		{"a longer one", []time.Duration{9 * time.Second}, 3 * time.Second},
		{"a shorter one and a longer one", []time.Duration{time.Second, 9 * time.Second}, time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &Client{pace: newPace(1, 3*time.Second)}
				s := &session{client: c, id: 5, timeout: 3 * time.Second, holds: make(map[*hold]struct{})}
				s.beats.nudge = make(chan struct{}, 1)
				start := time.Now()
				s.seen.established(start)
				h := &hold{
					claim:  claim{s: s, release: func(bool) error { return nil }},
					client: c, lost: make(chan struct{}), ended: make(chan struct{}),
				}
				s.mu.Lock()
				s.holds[h] = struct{}{}
				h.timer = time.AfterFunc(time.Until(s.deadlineLocked()), h.atDeadline)
				s.mu.Unlock()
				for _, timeout := range test.granted {
					if err := s.connected(start, handshake{timeout: timeout, session: 5, password: passwordSize}); err != nil {
						t.Fatal(err)
					}
				}
				<-h.lost
				if got, want := time.Since(start), test.want-margin(test.want); got != want {
					t.Errorf("lost after %v, want %v", got, want)
				}
				synctest.Wait() // else what is waited for may not have begun
				s.wg.Wait()
			})
		})
	}
}
