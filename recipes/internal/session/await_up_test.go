package session

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatEndsTheWaitForALink(t *testing.T) {
	why := errors.New("not needed any more")
	for name, c := range map[string]struct {
		ends func(s *Session, cancel context.CancelCauseFunc)
		want error
	}{
		"the link comes up":           {func(s *Session, _ context.CancelCauseFunc) { s.up = true; close(s.changed) }, nil},
		"the session ends":            {func(s *Session, _ context.CancelCauseFunc) { close(s.Ended) }, ErrEnded},
		"the context ends":            {func(_ *Session, cancel context.CancelCauseFunc) { cancel(why) }, why},
		"the link is up, and it ends": {func(s *Session, _ context.CancelCauseFunc) { close(s.Ended); s.up = true; close(s.changed) }, ErrEnded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Session{Ended: make(chan struct{}), changed: make(chan struct{})}
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				done := make(chan error)
				go func() { done <- s.AwaitUp(ctx) }()
				synctest.Wait()
				s.mu.Lock()
				c.ends(s, cancel)
				s.mu.Unlock()
				if err := <-done; !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			})
		})
	}
}

// A server grants what it was asked for, or what its own bounds make of it.
func TestWhichTimeoutsAServerCanHaveGranted(t *testing.T) {
	for _, c := range []struct {
		asked, granted time.Duration
		can            bool
	}{
		{10 * time.Second, 10 * time.Second, true},
		{10 * time.Second, 100 * time.Millisecond, true},
		{10 * time.Second, 99 * time.Millisecond, false},
		{50 * time.Millisecond, 50 * time.Millisecond, true},
		{50 * time.Millisecond, 49 * time.Millisecond, false},
		{10 * time.Second, time.Hour, true},
		{10 * time.Second, time.Hour + time.Millisecond, false},
		{2 * time.Hour, 2 * time.Hour, true},
		{2 * time.Hour, 2*time.Hour + time.Millisecond, false},
	} {
		h := handshake{timeout: c.granted, session: 5, password: passwordSize}
		if err := h.implausible(0, c.asked); (err == nil) != c.can {
			t.Errorf("asked for %v, granted %v: %v", c.asked, c.granted, err)
		}
	}
}
