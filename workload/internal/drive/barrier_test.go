package drive

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWhoIsAboutToWaitFollowsABarrierThatHasBeenPutUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := barrierDriver{make(chan string)}
		d.raise("nobody-rests")
		at := make(chan string)
		for range followers + 1 {
			go func() { at <- d.follow(t.Context(), time.Second, "own") }()
		}
		synctest.Wait()
		d.raise("raised")
		start := time.Now()
		for i := range followers {
			if got := <-at; got != "raised" || time.Since(start) != 0 {
				t.Errorf("follower %d waits at %q after %v; want at the barrier that was put up, at once", i, got, time.Since(start))
			}
		}
		if got := <-at; got != "own" || time.Since(start) != time.Second {
			t.Errorf("one more waits at %q after %v; want at its own, after its rest", got, time.Since(start))
		}
	})
}
