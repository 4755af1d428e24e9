package ensemble

import (
	"context"
	"fmt"
	"os"
)

func (l *Local) server(id int) (*server, error) {
	if id < 1 || id > len(l.servers) {
		return nil, fmt.Errorf("no server %d among %d", id, len(l.servers))
	}
	if l.ctx.Err() != nil {
		return nil, ErrClosed
	}
	return l.servers[id-1], nil
}

// Kill kills the server's process with SIGKILL and returns when it is gone, its
// ports free. Killing a dead server does nothing.
func (l *Local) Kill(ctx context.Context, id int) error {
	s, err := l.server(id)
	if err != nil {
		return fmt.Errorf("kill: %w", err)
	}
	s.kill()
	return nil
}

// Pause stops the server's process with SIGSTOP and returns when it stands
// still: connections stay open and are accepted, nothing is answered. It
// returns ErrNotRunning for a server whose process has ended.
func (l *Local) Pause(ctx context.Context, id int) error {
	s, err := l.server(id)
	if err == nil {
		err = s.pause(ctx)
	}
	if err != nil {
		return fmt.Errorf("pause server %d: %w", id, err)
	}
	return nil
}

// Resume lets a paused server go on. It leaves any other server as it is, also one that
// was killed meanwhile.
func (l *Local) Resume(ctx context.Context, id int) error {
	s, err := l.server(id)
	if err == nil {
		err = s.resume()
	}
	if err != nil {
		return fmt.Errorf("resume server %d: %w", id, err)
	}
	return nil
}

// Restart starts the server again on the same data and ports, killing it first if it
// still runs, and returns when it serves. It can serve only with a majority of the
// servers: after the loss of the quorum restart them at the same time. When ctx ends
// first the server goes on starting. Restart returns ErrServerDied or ErrNotServing.
func (l *Local) Restart(ctx context.Context, id int) error {
	s, err := l.server(id)
	if err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, l.config.StartLimit, ErrNotServing)
		defer cancel()
	}
	s.kill()
	s.mu.Lock()
	removed := s.removed
	s.mu.Unlock()
	if removed {
		// A server does not start with a list of members without itself, which it may have on
		// disk.
		if err := s.write(); err != nil {
			return fmt.Errorf("restart: %w", err)
		}
	}
	if err := s.start(); err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	if _, err := s.serves(ctx); err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	return nil
}

// Running reports whether the server's process is alive, even if paused.
func (l *Local) Running(id int) bool {
	s, err := l.server(id)
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process != nil && s.process.Alive()
}

// Output returns the output of all runs of the server.
func (l *Local) Output(_ context.Context, id int) ([]byte, error) {
	s, err := l.server(id)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(s.log)
}
