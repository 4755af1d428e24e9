package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// library is a lock written in Go.
type library interface {
	// connect opens a session with one server.
	connect(ctx context.Context, server string) (session, error)
}

// session is a library's connection to ZooKeeper.
type session interface {
	// lock returns the handle of one contender. No other contender uses it.
	lock(w work, contender int) (lock, error)
	close()
}

// lock is one contender's handle on a lock.
type lock interface {
	acquire(ctx context.Context) error
	release(ctx context.Context) error
}

// inProcess is a peer whose contenders are goroutines of this process.
type inProcess struct {
	name     string
	library  library
	sessions map[string]session
	parked   *parked
}

// parked is the state between park and unpark.
type parked struct {
	ctx    context.Context
	cancel context.CancelFunc
	holder lock
	all    *contenders
}

func newInProcess(name string, l library) *inProcess {
	return &inProcess{name: name, library: l, sessions: map[string]session{}}
}

// session returns the session of a contender. It opens the session if need be.
func (p *inProcess) session(ctx context.Context, w work, contender int) (session, error) {
	key := fmt.Sprint(w.session(contender), " ", w.server(contender))
	if s, ok := p.sessions[key]; ok {
		return s, nil
	}
	s, err := p.library.connect(ctx, w.server(contender))
	if err == nil {
		p.sessions[key] = s
	}
	return s, err
}

// locks returns a handle for each contender, and one more for another client in the first
// session.
func (p *inProcess) locks(ctx context.Context, w work) (all []lock, other lock, err error) {
	for i := range w.contenders + 1 {
		if i == w.contenders {
			i = 0
		}
		s, err := p.session(ctx, w, i)
		if err != nil {
			return nil, nil, err
		}
		l, err := s.lock(w, i)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, l)
	}
	return all[:w.contenders], all[w.contenders], nil
}

// labeled runs f, and every goroutine that it starts, under the peer's name in
// CPU profiles.
func (p *inProcess) labeled(ctx context.Context, f func(ctx context.Context)) {
	pprof.Do(ctx, pprof.Labels("peer", p.name), f)
}

func (p *inProcess) run(ctx context.Context, w work) (r result, err error) {
	p.labeled(ctx, func(ctx context.Context) { r, err = p.measure(ctx, w) })
	return r, err
}

func (p *inProcess) measure(ctx context.Context, w work) (result, error) {
	locks, other, err := p.locks(ctx, w)
	if err != nil {
		return result{}, err
	}
	if err := cycle(ctx, other); err != nil {
		return result{}, err
	}
	c := stand(ctx, w, locks)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begin := time.Now()
	c.start()
	err = c.wait(ctx)
	elapsed := time.Since(begin)
	runtime.ReadMemStats(&after)
	return result{elapsed: elapsed, mallocs: after.Mallocs - before.Mallocs}, err
}

func (p *inProcess) park(ctx context.Context, w work) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	p.labeled(ctx, func(ctx context.Context) {
		var locks []lock
		var holder lock
		if locks, holder, err = p.locks(ctx, w); err != nil {
			return
		}
		if err = holder.acquire(ctx); err != nil {
			return
		}
		p.parked = &parked{ctx: ctx, cancel: cancel, holder: holder, all: stand(ctx, w, locks)}
		p.parked.all.start()
	})
	if err != nil {
		cancel()
	}
	return err
}

func (p *inProcess) unpark(ctx context.Context) error {
	defer p.parked.cancel()
	if err := p.parked.holder.release(p.parked.ctx); err != nil {
		return err
	}
	return p.parked.all.wait(ctx)
}

func (p *inProcess) disconnect(context.Context) error {
	var all sync.WaitGroup
	for _, s := range p.sessions {
		all.Go(s.close) // go-zookeeper takes a second each
	}
	all.Wait()
	clear(p.sessions)
	return nil
}

func (p *inProcess) close() { _ = p.disconnect(context.Background()) } // never fails

func cycle(ctx context.Context, l lock) error {
	if err := l.acquire(ctx); err != nil {
		return err
	}
	return l.release(ctx)
}

// contenders are goroutines that are ready to start together.
type contenders struct {
	start  func()
	done   chan struct{} // closed when all have ended
	failed chan error    // the first error
}

// stand starts the contenders and returns when all are ready. They end when their cycles
// are done, at an error of any of them, and with ctx. Contenders whose lock does not heed a
// context end with their session.
func stand(ctx context.Context, w work, locks []lock) *contenders {
	ctx, cancel := context.WithCancel(ctx)
	line := make(chan struct{})
	c := &contenders{start: func() { close(line) }, done: make(chan struct{}), failed: make(chan error, 1)}
	g := newGuard(w)
	var ready, all sync.WaitGroup
	ready.Add(len(locks))
	for i, l := range locks {
		all.Go(func() {
			ready.Done()
			<-line
			for range w.cycles {
				if err := guarded(ctx, g, l, w.writer(i), w.hold); err != nil {
					select {
					case c.failed <- err:
					default: // others failed because the first did
					}
					cancel()
					return
				}
			}
		})
	}
	// Ends when the contenders have ended.
	go func() {
		all.Wait()
		cancel()
		close(c.done)
	}()
	ready.Wait()
	return c
}

// wait returns when all contenders are done, or with the first error.
func (c *contenders) wait(ctx context.Context) error {
	select {
	case err := <-c.failed:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.done:
	}
	select {
	case err := <-c.failed:
		return err
	default:
		return nil
	}
}

// guarded makes one cycle, in which the holder checks that it is allowed to hold the lock.
func guarded(ctx context.Context, g *guard, l lock, writer bool, hold time.Duration) error {
	if err := l.acquire(ctx); err != nil {
		return err
	}
	if err := g.enter(writer); err != nil {
		return err
	}
	stay(hold)
	g.leave(writer)
	return l.release(ctx)
}

// stay sleeps in the kernel, as drivers in other languages do. An otherwise idle process
// wakes from time.Sleep up to a millisecond late: Go waits for the network meanwhile, and
// counts that wait in milliseconds.
func stay(hold time.Duration) {
	until := time.Now().Add(hold)
	for left := hold; left > 0; left = time.Until(until) {
		t := unix.NsecToTimeval(left.Nanoseconds())
		_, _ = unix.Select(0, nil, nil, nil, &t) // after a signal there is more to sleep
	}
}
