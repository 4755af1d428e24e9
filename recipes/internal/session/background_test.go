package session

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A step in the background is not tried while the link is down, but at once when it is up,
// and then until it succeeds.
func TestABackgroundStepWaitsForTheLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Session{Ended: make(chan struct{}), changed: make(chan struct{}), Quit: t.Context()}
		var tried []time.Time
		done := Background(s, func(context.Context) error {
			if tried = append(tried, time.Now()); len(tried) < 3 {
				return errors.New("not yet")
			}
			return nil
		})
		time.Sleep(time.Minute)
		s.mu.Lock()
		s.up = true
		close(s.changed)
		up := time.Now()
		s.mu.Unlock()
		<-done
		if len(tried) != 3 || tried[0] != up {
			t.Errorf("the link is up at %v, and it was tried at %v", up, tried)
		}
	})
}
