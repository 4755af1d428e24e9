package session

import (
	"context"
	"sync"
	"time"
)

// pace decides when a client may make its next connection, so that servers that cannot
// serve are not hammered: a server without a quorum accepts a connection and closes it at
// once, and go-zookeeper would try again thousands of times a second.
//
// After a session's connection has broken, each server of the list may be tried once
// without a wait: the healthy ones are found as fast as they answer. From then on attempts
// begin at least a wait apart. It is 10 ms at first, doubles with each attempt up to a
// bound, and half of it is random.
//
// A session alone does not reset the wait, since a server may grant one and end the
// connection at once. It is reset by a connection over which a quorum has confirmed a
// write, or which has lasted as long as the longest wait. In every case there are at most
// maxConnects attempts in any window.
//
// A client has one pace for all of its sessions.
type pace struct {
	servers int           // in the list
	window  time.Duration // in which there are at most maxConnects attempts

	mu      sync.Mutex
	tries   int       // attempts since the wait was reset
	last    time.Time // when the latest attempt began, or will begin
	shaken  time.Time // when the connection of that attempt got its session; zero before that
	served  bool      // a quorum has confirmed a write over that connection
	forgave bool      // a session has expired since the wait was reset
	atOnce  bool      // the next attempt need not wait
	begun   [maxConnects]time.Time
	count   int // of all attempts so far; the oldest in begun is at count % maxConnects
}

// leastWait is the first wait between two attempts.
const leastWait = 10 * time.Millisecond

// maxConnects bounds the attempts in a fifth of a session timeout, or in 5 s if that is
// less.
const maxConnects = 20

func newPace(servers int, timeout time.Duration) *pace {
	return &pace{servers: servers, window: min(timeout/5, 5*time.Second)}
}

// longestWait bounds the wait between two attempts, and so the time that a client may need
// to find out that a server serves again.
func longestWait(timeout time.Duration) time.Duration {
	return max(leastWait, min(timeout/6, 2*time.Second))
}

// await waits until the next attempt may begin, or until ctx ends.
func (p *pace) await(ctx context.Context, timeout time.Duration) error {
	return sleep(ctx, p.next(time.Now(), longestWait(timeout)))
}

// awaitAnother waits until the latest attempt may open one more connection, or until ctx
// ends. The connection counts towards the bound of a window.
func (p *pace) awaitAnother(ctx context.Context) error {
	p.mu.Lock()
	now := time.Now()
	at := p.book(now)
	p.mu.Unlock()
	return sleep(ctx, at.Sub(now))
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// book reserves a connection at a time, or at the first later time at which there are not
// too many, and returns that time. The pace is locked.
func (p *pace) book(at time.Time) time.Time {
	if p.count >= maxConnects {
		at = latest(at, p.begun[p.count%maxConnects].Add(p.window))
	}
	p.begun[p.count%maxConnects] = at
	p.count++
	return at
}

// next reserves an attempt and returns how long to wait for it.
func (p *pace) next(now time.Time, longest time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.served || !p.shaken.IsZero() && now.Sub(p.shaken) >= longest {
		p.tries, p.forgave = 0, false
	}
	p.shaken, p.served = time.Time{}, false
	at := now
	if step := p.tries - p.servers; step >= 0 && !p.atOnce {
		wait := min(longest, leastWait<<min(step, 16))
		at = latest(at, p.last.Add(wait/2+time.Duration(random.Int64N(int64(wait/2+1)))))
	}
	at = p.book(at)
	p.tries++
	p.last, p.atOnce = at, false
	return at.Sub(now)
}

// established notes that the latest attempt has led to a session.
func (p *pace) established() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shaken = time.Now()
}

// confirmed notes that a quorum has confirmed a write of the session.
func (p *pace) confirmed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.served = true
}

// lied notes that the latest attempt has led to a server that sends data that no ZooKeeper
// server sends. Writes that it has confirmed do not reset the wait.
func (p *pace) lied() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.served, p.shaken = false, time.Time{}
}

// expired notes that a server has answered that the session is over. The next attempt need
// not wait, but only once: a server may answer so again and again.
func (p *pace) expired() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.atOnce, p.forgave = !p.forgave, true
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
