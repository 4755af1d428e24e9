package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
)

// Explain adds to the error of a call that ctx has ended why there is no connection, server
// by server. It adds nothing if the error says so already or there is a connection.
func (k *Keeper) Explain(ctx context.Context, err error) error {
	var told unconnected
	s := k.Current()
	if s == nil || ctx.Err() == nil || !errors.Is(err, context.Cause(ctx)) || errors.As(err, &told) {
		return err
	}
	up, silent, server := s.silence()
	switch {
	case !up:
		return k.failures.noSession(err)
	case silent > 0:
		return unconnected{fmt.Errorf("%w (last: %s: no answer over the connection for %v)", err, server, silent.Round(time.Millisecond))}
	}
	return err
}

// silence reports whether there is a connection. If the server at its other end has not
// answered for too long, silence returns the time since its last answer.
func (s *Session) silence() (up bool, silent time.Duration, server string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.up && s.suspension.on {
		silent = s.cfg.Clock.Now().Sub(s.suspension.heard)
	}
	return s.up, silent, s.addr
}

// Permission adds to the error of a call at some paths the permission that was refused, if
// one was.
func (k *Keeper) Permission(err error, paths ...string) error {
	if !errors.Is(err, zk.ErrNoAuth) {
		return err
	}
	if d, known := k.denials.about(paths); known {
		return d.of(err)
	}
	return err
}
