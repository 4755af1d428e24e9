package session

import (
	"cmp"
	"context"
	"time"
)

// Backoff paces requests that are made again because of an answer: a server has put the
// request off or refuses it, or the state that was read has changed meanwhile. The first
// Free retries come at once. Before each further retry there is a wait, of First at first,
// four times as long after each, at most Longest, and half of it random. A try that has
// lasted longer than Longest resets the wait.
type Backoff struct {
	Free    int
	First   time.Duration // 0: 100 ms
	Longest time.Duration // 0: 8 s

	tries int
	last  time.Time // when the latest retry began
}

const (
	firstPause   = 100 * time.Millisecond
	longestPause = 8 * time.Second
)

// Changed paces a step that is begun again because another client has changed what the step had
// read. Other clients may do so several times in a row. A server that says so for ever is asked
// less and less often: five times in the first second, and then about once in 3 s. A step makes up
// to four requests, and a client may be at two such steps at once.
func Changed() *Backoff {
	return &Backoff{Free: 1, First: 20 * time.Millisecond, Longest: 4 * time.Second}
}

// Anew resets the wait. It is called when a version that was not seen before proves that another
// client has changed what was read.
func (b *Backoff) Anew() { b.tries = 0 }

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
		wait = cmp.Or(b.First, firstPause)
		for range min(b.tries-b.Free-1, 16) {
			wait = min(longest, 4*wait)
		}
		wait = wait/2 + Random(wait/2)
	}
	b.last = now.Add(wait)
	return wait
}
