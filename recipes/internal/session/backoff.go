package session

import (
	"context"
	"time"
)

// Backoff paces requests that are made again because of an answer: a server has put the
// request off or refuses it, or the state that was read has changed meanwhile. The first
// Free retries come at once. Before each further retry there is a wait, of 100 ms at first,
// four times as long after each, at most Longest, and half of it random. A try that has
// lasted longer than Longest resets the wait.
type Backoff struct {
	Free    int
	Longest time.Duration // 0: 8 s

	tries int
	last  time.Time // when the latest retry began
}

const (
	firstPause   = 100 * time.Millisecond
	longestPause = 8 * time.Second
)

// Changed paces a step that is begun anew because the state that it had read has changed.
// That happens once in a while, unless servers contradict themselves.
func Changed() *Backoff { return &Backoff{Free: 1} }

// Wait waits before the next try. It returns ctx's cause, or ErrEnded when the session has
// ended.
func (b *Backoff) Wait(ctx context.Context, s *Session) error {
	wait := b.next()
	if wait == 0 {
		return nil
	}
	return Pause(ctx, s, wait)
}

func (b *Backoff) next() time.Duration {
	longest := b.Longest
	if longest == 0 {
		longest = longestPause
	}
	now := time.Now()
	if now.Sub(b.last) > longest {
		b.tries = 0
	}
	b.tries++
	var wait time.Duration
	if b.tries > b.Free {
		wait = firstPause
		for range min(b.tries-b.Free-1, 16) {
			wait = min(longest, 4*wait)
		}
		wait = wait/2 + Random(wait/2)
	}
	b.last = now.Add(wait)
	return wait
}
