package session

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
)

var errNotNeeded = errors.New("not needed any more")

// ended returns the error of a wait. It calls ends during the wait, with the session
// locked.
func ended(t *testing.T, s *Session, wait func(context.Context) error, ends func(cancel context.CancelCauseFunc)) error {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	done := make(chan error)
	go func() { done <- wait(ctx) }()
	synctest.Wait()
	s.mu.Lock()
	ends(cancel)
	s.mu.Unlock()
	return <-done
}

func TestWhatEndsTheWaitForALink(t *testing.T) {
	for name, c := range map[string]struct {
		ends func(s *Session, cancel context.CancelCauseFunc)
		want error
	}{
		"the link comes up":           {func(s *Session, _ context.CancelCauseFunc) { s.up = true; close(s.changed) }, nil},
		"the session ends":            {func(s *Session, _ context.CancelCauseFunc) { close(s.Ended) }, ErrEnded},
		"the context ends":            {func(_ *Session, cancel context.CancelCauseFunc) { cancel(errNotNeeded) }, errNotNeeded},
		"the link is up, and it ends": {func(s *Session, _ context.CancelCauseFunc) { close(s.Ended); s.up = true; close(s.changed) }, ErrEnded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Session{Ended: make(chan struct{}), changed: make(chan struct{})}
				if err := ended(t, s, s.AwaitUp, func(cancel context.CancelCauseFunc) { c.ends(s, cancel) }); !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			})
		})
	}
}

// A caller that waits for an event learns which of these came.
func TestWhatEndsTheWaitForAnEvent(t *testing.T) {
	const patience = time.Second
	for name, c := range map[string]struct {
		ends  func(s *Session, event chan zk.Event, linkChanged chan struct{}, cancel context.CancelCauseFunc)
		fired bool
		want  error
	}{
		"the event comes":   {func(_ *Session, event chan zk.Event, _ chan struct{}, _ context.CancelCauseFunc) { close(event) }, true, nil},
		"the link changes":  {func(_ *Session, _ chan zk.Event, changed chan struct{}, _ context.CancelCauseFunc) { close(changed) }, false, nil},
		"it takes too long": {func(*Session, chan zk.Event, chan struct{}, context.CancelCauseFunc) {}, false, nil},
		"the session ends":  {func(s *Session, _ chan zk.Event, _ chan struct{}, _ context.CancelCauseFunc) { close(s.Ended) }, false, ErrEnded},
		"the context ends": {func(_ *Session, _ chan zk.Event, _ chan struct{}, cancel context.CancelCauseFunc) {
			cancel(errNotNeeded)
		}, false, errNotNeeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, event, changed := &Session{Ended: make(chan struct{})}, make(chan zk.Event), make(chan struct{})
				start, fired := time.Now(), false
				err := ended(t, s, func(ctx context.Context) (err error) {
					fired, err = AwaitEvent(ctx, s, event, changed, patience)
					return err
				}, func(cancel context.CancelCauseFunc) { c.ends(s, event, changed, cancel) })
				if fired != c.fired || !errors.Is(err, c.want) || time.Since(start) > patience {
					t.Errorf("after %v: fired %v, %v; want %v, %v", time.Since(start), fired, err, c.fired, c.want)
				}
			})
		})
	}
}

// A session without evidence waits for it, or until it would be of no use.
func TestWhatEndsTheWaitForEvidence(t *testing.T) {
	for name, c := range map[string]struct {
		ends func(s *Session, cancel context.CancelCauseFunc)
		want error
	}{
		"evidence comes":    {func(s *Session, _ context.CancelCauseFunc) { s.seen.established(time.Now()) }, nil},
		"the node has gone": {func(s *Session, _ context.CancelCauseFunc) { delete(s.waiting, "/lock/node") }, ErrNodeGone},
		"the session ends":  {func(s *Session, _ context.CancelCauseFunc) { close(s.Ended) }, ErrEnded},
		"the context ends":  {func(_ *Session, cancel context.CancelCauseFunc) { cancel(errNotNeeded) }, errNotNeeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Session{timeout: 10 * time.Second, Ended: make(chan struct{}), waiting: map[string]struct{}{"/lock/node": {}}, common: &common{cfg: Config{Clock: MachineClock()}}}
				s.seen.established(time.Now().Add(-time.Minute))
				wait := func(ctx context.Context) error { return s.AwaitEvidence(ctx, "/lock/node") }
				if err := ended(t, s, wait, func(cancel context.CancelCauseFunc) { c.ends(s, cancel) }); !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			})
		})
	}
}

// A server grants the requested timeout, or moves it into its own bounds.
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
