package links

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// Time limits for Toxiproxy. If a change of a live connection takes longer, the link gets a
// new proxy instead.
const (
	liveLimit = time.Second
	stopLimit = 1500 * time.Millisecond
	openLimit = 3 * time.Second

	reopenLimit = 5 * time.Second // for a port that its last proxy has not let go of yet
	reopenRetry = 20 * time.Millisecond
)

// driver is the Toxiproxy behind a network.
type driver interface {
	// open starts a proxy that applies toxics from its first connection on.
	open(name, listen, upstream string, toxics []toxic) (proxy, error)
}

// proxy is one listener of Toxiproxy. Its methods may block for as long as the
// connections do; link.do bounds them.
type proxy interface {
	add(toxic) error
	remove(name string) error
	// stop closes the listener and every connection and forgets the proxy.
	stop() error
}

// link is the Link of every network: it decides which change to make, and its driver
// carries it out.
type link struct {
	name, upstream string
	listen, dial   string // the address as the driver and as clients see it
	driver         driver
	forget         func() // removes the link from its network

	turn chan struct{} // holds one token; the goroutine that has it may use the fields below

	proxy      proxy // nil when the link is down or closed
	generation int   // counts its proxies: a new one never has the name of an old one
	now        condition
	broken     bool // an earlier change was left half done
	closed     bool
}

func newLink(d driver, name, upstream, listen, dial string, forget func()) *link {
	l := &link{name: name, upstream: upstream, listen: listen, dial: dial, driver: d, forget: forget, turn: make(chan struct{}, 1)}
	l.turn <- struct{}{}
	return l
}

func (l *link) Name() string { return l.name }
func (l *link) Addr() string { return l.dial }

func (l *link) Cut(ctx context.Context, cut Cut) error {
	next, err := cutCondition(cut)
	if err != nil {
		return err
	}
	return l.change(ctx, next)
}

func (l *link) Delay(ctx context.Context, latency, jitter time.Duration) error {
	next, err := delayCondition(latency, jitter)
	if err != nil {
		return err
	}
	return l.change(ctx, next)
}

func (l *link) DelayReplies(ctx context.Context, latency time.Duration) error {
	next, err := delayCondition(latency, 0)
	if err != nil {
		return err
	}
	next.oneWay = next.latency > 0
	return l.change(ctx, next)
}

func (l *link) Stall(ctx context.Context, requests, replies bool) error {
	next, err := stallCondition(requests, replies)
	if err != nil {
		return err
	}
	return l.change(ctx, next)
}

func (l *link) Throttle(ctx context.Context, bytesPerSecond int) error {
	next, err := throttleCondition(bytesPerSecond)
	if err != nil {
		return err
	}
	return l.change(ctx, next)
}

func (l *link) Slice(ctx context.Context, size int, pause time.Duration) error {
	next, err := sliceCondition(size, pause)
	if err != nil {
		return err
	}
	return l.change(ctx, next)
}

func (l *link) Truncate(ctx context.Context, bytes int) error {
	next, err := truncateCondition(bytes)
	if err != nil {
		return err
	}
	return l.change(ctx, next)
}

func (l *link) Heal(ctx context.Context) error { return l.change(ctx, condition{}) }

func (l *link) Close() error {
	<-l.turn
	defer func() { l.turn <- struct{}{} }()
	if l.closed {
		return nil
	}
	l.closed = true
	l.forget()
	return l.wrap("close", l.stop(context.Background()))
}

// change brings the link into condition next.
func (l *link) change(ctx context.Context, next condition) error {
	select {
	case <-l.turn:
		defer func() { l.turn <- struct{}{} }()
	case <-ctx.Done():
		return l.wrap("change", context.Cause(ctx))
	}
	switch {
	case l.closed:
		return l.wrap("change", ErrClosed)
	case !l.broken && l.now == next:
		return nil
	case !l.broken && l.now.cut == "" && next.cut != Down:
		l.broken = true
		if err := l.alter(ctx, next); err == nil {
			l.now, l.broken = next, false
			return nil
		} else if ctx.Err() != nil {
			return l.wrap("change", err)
		}
	}
	l.broken = true
	if err := l.reopen(ctx, next); err != nil {
		return l.wrap("change", err)
	}
	l.now, l.broken = next, false
	return nil
}

// reopen is replace on the port that the link has had all along. The last proxy may still
// hold the port if it took too long to stop, as all proxies do on a machine that stood
// still for a moment.
func (l *link) reopen(ctx context.Context, next condition) error {
	for start := time.Now(); ; {
		err := l.replace(ctx, next)
		if err == nil || !portTaken(err) || time.Since(start) > reopenLimit {
			return err
		}
		timer := time.NewTimer(reopenRetry)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}

// portTaken reports whether a listener could not be opened because there is one already.
// A Toxiproxy server reports that in the text of its error only.
func portTaken(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || strings.Contains(err.Error(), "address already in use")
}

// alter changes the condition of live connections, which stay open. A cut takes effect
// before the data that a stall has held back goes on.
func (l *link) alter(ctx context.Context, next condition) error {
	var steps []func(proxy) error // made here: they may still run during another change
	for _, t := range next.toxics() {
		steps = append(steps, func(p proxy) error { return p.add(t) })
	}
	cut := len(steps)
	for _, old := range l.now.toxics() {
		steps = append(steps, func(p proxy) error { return p.remove(old.Name) })
	}
	if next.cut == "" { // the same toxics may be in both
		steps = append(steps[cut:], steps[:cut]...)
	}
	return l.do(ctx, liveLimit, func(p proxy) error {
		for _, step := range steps {
			if err := step(p); err != nil {
				return err
			}
		}
		return nil
	})
}

// replace closes every connection and opens a proxy in condition next on the
// same address, unless the link is to be down.
func (l *link) replace(ctx context.Context, next condition) error {
	err := l.stop(ctx)
	if next.cut == Down || err != nil && !errors.Is(err, ErrStuck) {
		return err
	}
	// A proxy that hangs has closed its listener already, and its connections hang with it. It is
	// left behind: new connections are served by the new proxy.
	l.proxy = nil
	l.generation++
	opened, name := make(chan opening, 1), fmt.Sprintf("%s.%d", l.name, l.generation)
	// Ends when the driver returns; a proxy that comes too late is stopped.
	go func() {
		p, err := l.driver.open(name, l.listen, l.upstream, next.toxics())
		opened <- opening{p, err}
	}()
	timer := time.NewTimer(openLimit)
	defer timer.Stop()
	select {
	case o := <-opened:
		l.proxy = o.proxy
		return o.err
	case <-ctx.Done():
		go discard(opened)
		return context.Cause(ctx)
	case <-timer.C:
		go discard(opened)
		return ErrStuck
	}
}

type opening struct {
	proxy proxy
	err   error
}

// discard stops the proxy of an opening that its caller has given up. It ends with the
// opening.
func discard(opened <-chan opening) {
	if o := <-opened; o.err == nil {
		_ = o.proxy.stop()
	}
}

// stop stops the proxy, if there is one. A proxy that could not be stopped stays in
// l.proxy, so that the next change tries again.
func (l *link) stop(ctx context.Context) error {
	if l.now.stalled != [2]bool{} {
		// Toxiproxy keeps the data that it holds back, and the goroutine that holds it, for as
		// long as the toxic says, even if the connection ends before.
		_ = l.alter(ctx, condition{cut: BlackHole})
	}
	err := l.do(ctx, stopLimit, proxy.stop)
	if err == nil {
		l.proxy = nil
	}
	return err
}

// do calls f with the link's proxy and stops waiting for it after limit. f runs in a
// goroutine of its own, which ends when Toxiproxy returns.
func (l *link) do(ctx context.Context, limit time.Duration, f func(proxy) error) error {
	if l.proxy == nil {
		return nil
	}
	done := make(chan error, 1)
	go func(p proxy) { done <- f(p) }(l.proxy)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return ErrStuck
	}
}

func (l *link) wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrStuck) && l.proxy != nil {
		err = fmt.Errorf("%w; its connections may still be open", err)
	}
	return fmt.Errorf("%s link %s to %s: %w", what, l.name, l.upstream, err)
}
