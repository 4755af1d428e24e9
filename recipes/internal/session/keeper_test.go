package session

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A client that is closed as soon as it has its session has told its listeners that it was
// connected, and that it is closed.
func TestListenersAreToldOfASessionBeforeAnybodyGetsIt(t *testing.T) {
	var told []State
	life, stop := context.WithCancel(t.Context())
	k := &Keeper{
		common:  &common{cfg: Config{Clock: MachineClock()}, life: life, states: states{told: func(s State) { told = append(told, s) }}},
		changed: make(chan struct{}), stop: stop,
	}
	s := &Session{common: k.common, Ended: make(chan struct{}), noDial: func(error) {}}
	got, closed, published := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s.mu.Lock() // the session is not introduced yet
	go func() {
		defer close(published)
		k.publish(s)
	}()
	go func() {
		defer close(closed)
		if _, err := k.Get(t.Context()); err != nil {
			t.Error(err)
		}
		close(got)
		k.Close()
	}()
	select {
	case <-got:
		t.Error("the session is used before listeners are told of it")
	case <-time.After(50 * time.Millisecond):
	}
	s.mu.Unlock()
	<-closed
	<-published
	if len(told) != 2 || told[0] != StateConnected || told[1] != StateClosed {
		t.Errorf("told %v", told)
	}
}

// Close and the news of a session may come at the same time; for the race detector.
func TestAKeeperIsClosedAsASessionIsRefused(t *testing.T) {
	for range 200 {
		life, stop := context.WithCancel(t.Context())
		k := &Keeper{common: &common{life: life, states: states{told: func(State) {}}}, changed: make(chan struct{}), stop: stop}
		published := make(chan struct{})
		go func() {
			defer close(published)
			k.refuse(errNotNeeded)
		}()
		k.Close()
		<-published
		if s, err := k.Get(t.Context()); s != nil || !errors.Is(err, ErrClosed) {
			t.Errorf("%v, %v", s, err)
		}
	}
}
