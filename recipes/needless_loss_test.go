package recipes_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// A lease is not lost while nothing happens to its session and the servers: whatever the ticks are, on
// slow links too, and whenever after a rest of the session it was granted. Its evidence is old then.
func TestNoLeaseAfterARestIsLostWithoutACause(t *testing.T) {
	const timeout = 4 * time.Second
	for _, c := range []struct {
		ticks   int // in a session timeout
		latency time.Duration
	}{
		{10, timeout / 50},
		{5, timeout / 50},
		{3, timeout / 100},
		{2, time.Millisecond},
		{2, timeout / 200},
	} {
		t.Run(fmt.Sprintf("%d ticks, links of %v", c.ticks, c.latency), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := zktest.Start(t, zktest.Tick(timeout/time.Duration(c.ticks)), zktest.Latency(c.latency))
				client, err := recipes.Connect(t.Context(), e.Servers(), recipes.WithSessionTimeout(timeout),
					recipes.WithServerTick(timeout/time.Duration(c.ticks)), recipes.WithDialer(e.Client("holder").DialContext))
				if err != nil {
					t.Fatal(err)
				}
				m := recipes.NewMutex(client, "/l")
				for step := range 20 {
					time.Sleep(2*timeout + time.Duration(step)*timeout/19)
					l := acquire(t, t.Context(), m)
					granted, left := time.Now(), time.Until(l.Deadline())
					select {
					case <-l.Lost():
						t.Errorf("rest %d: the lease, with %v left, is lost after %v: %v", step, left, time.Since(granted), l.Err())
						continue
					case <-time.After(2 * timeout):
					}
					release(t, l)
				}
				_ = client.Close(context.Background())
			})
		})
	}
}

// Nor is it while its session always has requests under way, on slow links: their answers come
// closer together than the beats of one chain.
func TestNoLeaseOfABusySessionIsLostWithoutACause(t *testing.T) {
	const timeout = 4 * time.Second
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t, zktest.Tick(timeout/10), zktest.Latency(timeout/50))
		client, err := recipes.Connect(t.Context(), e.Servers(), recipes.WithSessionTimeout(timeout), recipes.WithDialer(e.Client("holder").DialContext))
		if err != nil {
			t.Fatal(err)
		}
		l := acquire(t, t.Context(), recipes.NewMutex(client, "/held"))
		granted := time.Now()
		busy, done := context.WithTimeout(t.Context(), 3*timeout)
		defer done()
		var others sync.WaitGroup
		for i := range 10 {
			others.Go(func() {
				for m := recipes.NewMutex(client, fmt.Sprintf("/%d", i)); busy.Err() == nil; {
					if l, err := m.Acquire(busy); err == nil {
						_ = l.Release(t.Context())
					}
				}
			})
		}
		select {
		case <-l.Lost():
			t.Errorf("the lease is lost after %v: %v", time.Since(granted), l.Err())
		case <-busy.Done():
		}
		others.Wait()
		release(t, l)
		_ = client.Close(context.Background())
	})
}
