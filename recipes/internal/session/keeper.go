package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Keeper keeps one session at a time, and opens a new one when the servers have
// ended the old.
type Keeper struct {
	*common
	stop context.CancelFunc // cancels life
	wg   sync.WaitGroup

	mu      sync.Mutex
	latest  *Session
	refused error         // why latest was given up
	changed chan struct{} // closed and replaced when latest is
	closing bool
}

// Start opens a session. It returns at once: Get waits for the session.
func Start(cfg Config) (*Keeper, error) {
	k := &Keeper{
		common:  &common{cfg: cfg, pace: newPace(len(cfg.Servers), cfg.Timeout), states: states{told: cfg.Told}},
		changed: make(chan struct{}),
	}
	k.life, k.stop = context.WithCancel(context.Background())
	s, err := startSession(k.common)
	if err != nil {
		k.stop()
		return nil, err
	}
	k.wg.Go(func() { k.run(s) })
	return k, nil
}

// run replaces the session whenever it ends, until the keeper is closed.
func (k *Keeper) run(s *Session) {
	for {
		select {
		case <-s.ready:
			if err := k.authenticate(s); err == nil {
				k.publish(s)
			} else if k.life.Err() == nil {
				s.refused.CompareAndSwap(nil, &err)
				s.end(NotAuthenticated)
			}
		case <-s.Ended:
		case <-k.life.Done():
		}
		select {
		case <-s.Ended:
		case <-k.life.Done():
		}
		if why := s.refused.Load(); why != nil {
			k.refuse(*why)
			select { // no storm of sessions with bad credentials
			case <-time.After(time.Second):
			case <-k.life.Done():
			}
		}
		k.wg.Go(s.close) // the next session need not wait for it
		if k.life.Err() != nil {
			return
		}
		next, err := startSession(k.common)
		if err != nil {
			// zk.Connect refuses only empty server lists and the like, and has
			// accepted these before.
			return
		}
		s = next
	}
}

// authenticate adds the credentials to a new session; go-zookeeper repeats them on every
// reconnect. Servers that demand an authentication say so only at the first request, so
// authenticate makes one where there are such servers.
func (k *Keeper) authenticate(s *Session) error {
	for _, a := range k.cfg.Auths {
		_, err := Retry(k.life, s, func() (struct{}, error) { return struct{}{}, s.Conn.AddAuth(a.Scheme, a.Secret()) })
		if err != nil {
			return fmt.Errorf("recipes: authenticating by %s: %w", a.Scheme, err)
		}
	}
	if !k.demandsAuth.Load() {
		return nil
	}
	_, _ = Retry(k.life, s, func() (bool, error) { // the users of the session get the errors
		there, _, err := s.Conn.Exists("/")
		return there, err
	})
	if why := s.refused.Load(); why != nil {
		return *why
	}
	return nil
}

// publish makes s the session to use. A caller that gets the session may close the client
// at once, so the listeners are told of the session before any caller gets it. They are
// called later, and may use it.
func (k *Keeper) publish(s *Session) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s.introduce()
	k.latest, k.refused = s, nil
	close(k.changed)
	k.changed = make(chan struct{})
}

// refuse makes err the error that callers get, until there is a session.
func (k *Keeper) refuse(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.refused = err
	close(k.changed)
	k.changed = make(chan struct{})
}

// Get returns a session that has not ended, waiting for it if need be. It returns ErrClosed
// when the keeper is closed, and ctx's cause, with the last errors of the servers, when ctx
// ends before there is a session.
func (k *Keeper) Get(ctx context.Context) (*Session, error) {
	for {
		k.mu.Lock()
		s, refused, changed, closing := k.latest, k.refused, k.changed, k.closing
		k.mu.Unlock()
		if closing {
			return nil, ErrClosed
		}
		if refused != nil {
			return nil, refused
		}
		if s != nil {
			select {
			case <-s.Ended:
			default:
				return s, nil
			}
		}
		select {
		case <-changed:
		case <-k.life.Done():
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, k.failures.noSession(context.Cause(ctx))
		}
	}
}

// Through runs f in the current session, and again in the next session whenever the session
// ends during f.
func (k *Keeper) Through(ctx context.Context, f func(*Session) error) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx) // before any request is sent
		}
		s, err := k.Get(ctx)
		if err != nil {
			return err
		}
		if err := f(s); !errors.Is(err, ErrEnded) {
			return err
		}
	}
}

// Current returns the session that was published last, which may have ended, or nil
// before there is one.
func (k *Keeper) Current() *Session {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.latest
}

// Closed reports whether Close has been called.
func (k *Keeper) Closed() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.closing
}

// Close ends the session. Wait waits for the work that Close leaves behind.
func (k *Keeper) Close() {
	k.mu.Lock()
	k.closing = true
	s := k.latest
	k.mu.Unlock()
	k.stop()
	if s != nil {
		s.end(ClientClosed)
	}
	k.states.tell(StateClosed)
}

// Wait waits until all goroutines of the keeper and its sessions have ended.
func (k *Keeper) Wait() { k.wg.Wait() }
