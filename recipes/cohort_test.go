package recipes

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// What a client remembers of locks with a hand-off ends with their last users.
func TestACohortGoesWithItsLastUser(t *testing.T) {
	var c cohorts
	for i := range 100 {
		path := fmt.Sprint("/lock-", i)
		if a, b := c.enter(path), c.enter(path); a != b {
			t.Fatal("two users of a path have two cohorts")
		}
		c.exit(path)
		if len(c.all) != 1 {
			t.Fatalf("%d cohorts while one is used", len(c.all))
		}
		c.exit(path)
		if len(c.all) != 0 {
			t.Fatalf("%d cohorts are left", len(c.all))
		}
	}
}

// waitsForTheCohort reports whether a goroutine waits for the mutex of a cohort in lead.
func waitsForTheCohort() bool {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return slices.ContainsFunc(strings.Split(string(stacks), "\n\n"), func(one string) bool {
		return strings.Contains(one, "sync.(*Mutex).Lock") && strings.Contains(one, "(*cohort).lead")
	})
}

// The leadership comes, without a place, to one who is giving up: it goes on to the next.
func TestWhoGivesUpAsTheLeadershipComesPassesItOn(t *testing.T) {
	m := &Mutex{client: new(Client), path: "/lock"}
	co := m.client.cohorts.enter(m.path)
	co.led = true
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := m.handoff(ctx, ownership{}, true, time.Now())
		done <- err
	}()
	for waits := false; !waits; time.Sleep(time.Millisecond) {
		co.mu.Lock()
		waits = len(co.followers) == 1
		co.mu.Unlock()
	}
	next := &follower{turn: make(chan baton, 1)}
	co.mu.Lock()
	cancel()
	for !waitsForTheCohort() { // it has seen that it was cancelled
		time.Sleep(time.Millisecond)
	}
	leaving := co.followers[0]
	leaving.turn <- baton{}
	co.followers = []*follower{next}
	co.mu.Unlock()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	select {
	case b := <-next.turn:
		if b.place != nil {
			t.Error("with a place")
		}
	case <-time.After(10 * time.Second):
		t.Error("nobody leads any more")
	}
}
