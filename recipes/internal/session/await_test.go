package session

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
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

// Who waits for an event is told which of these came.
func TestWhatEndsTheWaitForAnEvent(t *testing.T) {
	why := errors.New("not needed any more")
	const patience = time.Second
	for name, c := range map[string]struct {
		ends  func(s *Session, event chan zk.Event, linkChanged chan struct{}, cancel context.CancelCauseFunc)
		fired bool
		want  error
	}{
		"the event comes":   {func(_ *Session, event chan zk.Event, _ chan struct{}, _ context.CancelCauseFunc) { close(event) }, true, nil},
		"the link changes":  {func(_ *Session, _ chan zk.Event, changed chan struct{}, _ context.CancelCauseFunc) { close(changed) }, false, nil},
		"it takes too long": {func(*Session, chan zk.Event, chan struct{}, context.CancelCauseFunc) { time.Sleep(patience) }, false, nil},
		"the session ends":  {func(s *Session, _ chan zk.Event, _ chan struct{}, _ context.CancelCauseFunc) { close(s.Ended) }, false, ErrEnded},
		"the context ends":  {func(_ *Session, _ chan zk.Event, _ chan struct{}, cancel context.CancelCauseFunc) { cancel(why) }, false, why},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, event, changed := &Session{Ended: make(chan struct{})}, make(chan zk.Event), make(chan struct{})
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				start := time.Now()
				type end struct {
					fired bool
					err   error
				}
				done := make(chan end)
				go func() {
					fired, err := AwaitEvent(ctx, s, event, changed, patience)
					done <- end{fired, err}
				}()
				time.Sleep(patience / 10)
				c.ends(s, event, changed, cancel)
				if got := <-done; got.fired != c.fired || !errors.Is(got.err, c.want) || time.Since(start) > patience+patience/10 {
					t.Errorf("after %v: fired %v, %v; want %v, %v", time.Since(start), got.fired, got.err, c.fired, c.want)
				}
			})
		})
	}
}

// Who has no evidence yet waits for it, or until it would be of no use.
func TestWhatEndsTheWaitForEvidence(t *testing.T) {
	why := errors.New("not needed any more")
	for name, c := range map[string]struct {
		ends func(s *Session, cancel context.CancelCauseFunc)
		want error
	}{
		"evidence comes":    {func(s *Session, _ context.CancelCauseFunc) { s.seen.established(time.Now()) }, nil},
		"the node has gone": {func(s *Session, _ context.CancelCauseFunc) { delete(s.waiting, "/lock/node") }, ErrNodeGone},
		"the session ends":  {func(s *Session, _ context.CancelCauseFunc) { close(s.Ended) }, ErrEnded},
		"the context ends":  {func(_ *Session, cancel context.CancelCauseFunc) { cancel(why) }, why},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Session{timeout: 10 * time.Second, Ended: make(chan struct{}), waiting: map[string]struct{}{"/lock/node": {}}, common: &common{cfg: Config{Clock: MachineClock()}}}
				s.seen.established(time.Now().Add(-time.Minute))
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				done := make(chan error)
				go func() { done <- s.AwaitEvidence(ctx, "/lock/node") }()
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
