package docker

import (
	"context"
	"fmt"
	"time"

	"github.com/moby/moby/api/types/container"
	apinetwork "github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"github.com/zkverify/zkverify/ensemble"
)

// change makes a change to the server id through f, and adds its context to f's error.
func (e *Ensemble) change(what string, id int, f func(*server) error) error {
	if id < 1 || id > len(e.servers) {
		return fmt.Errorf("%s: no server %d among %d", what, id, len(e.servers))
	}
	if e.ctx.Err() != nil {
		return fmt.Errorf("%s server %d: %w", what, id, ensemble.ErrClosed)
	}
	s := e.servers[id-1]
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := f(s); err != nil {
		return fmt.Errorf("%s server %d: %w", what, id, err)
	}
	return nil
}

// Kill kills the container's process with SIGKILL and returns when it is gone.
// Killing a dead server does nothing.
func (e *Ensemble) Kill(ctx context.Context, id int) error {
	return e.change("kill", id, func(s *server) error {
		if s.killed {
			return nil
		}
		if err := s.resume(ctx); err != nil { // Docker kills no container that is paused
			return err
		}
		waiting := e.docker.ContainerWait(ctx, s.container.ID, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
		if _, err := e.docker.ContainerKill(ctx, s.container.ID, client.ContainerKillOptions{Signal: "KILL"}); err != nil {
			return err
		}
		select {
		case err := <-waiting.Error:
			return err
		case <-waiting.Result:
		}
		s.killed = true
		return nil
	})
}

// Pause freezes the container: connections stay open and are accepted, nothing
// is answered. It returns ensemble.ErrNotRunning for a server that was killed.
func (e *Ensemble) Pause(ctx context.Context, id int) error {
	return e.change("pause", id, func(s *server) error {
		if s.killed {
			return ensemble.ErrNotRunning
		}
		if s.paused {
			return nil
		}
		err := freeze(ctx, func() error {
			_, err := e.docker.ContainerPause(ctx, s.container.ID, client.ContainerPauseOptions{})
			return err
		})
		s.paused = err == nil
		return err
	})
}

// Resume lets a paused server go on. It leaves any other as it is.
func (e *Ensemble) Resume(ctx context.Context, id int) error {
	return e.change("resume", id, func(s *server) error { return s.resume(ctx) })
}

func (s *server) resume(ctx context.Context) error {
	if !s.paused {
		return nil
	}
	_, err := s.ensemble.docker.ContainerUnpause(ctx, s.container.ID, client.ContainerUnpauseOptions{})
	s.paused = err != nil
	return err
}

// Restart starts the server again on the same data and ports, killing it first if it
// still runs, and returns when it serves. See ensemble.Local.Restart. It returns
// ensemble.ErrServerDied or ensemble.ErrNotServing.
func (e *Ensemble) Restart(ctx context.Context, id int) error {
	if err := e.Kill(ctx, id); err != nil {
		return err
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, e.config.StartLimit, ensemble.ErrNotServing)
		defer cancel()
	}
	err := e.change("restart", id, func(s *server) error {
		if _, err := e.docker.ContainerStart(ctx, s.container.ID, client.ContainerStartOptions{}); err != nil {
			return err
		}
		s.killed, s.addresses = false, nil
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := e.servers[id-1].serves(ctx); err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	return nil
}

// Running reports whether the server's container runs, even if paused.
func (e *Ensemble) Running(id int) bool {
	running := false
	_ = e.change("ask", id, func(s *server) error { running = !s.killed; return nil })
	return running
}

// Unplug disconnects the server's container from its network: no peer and no client
// reaches it. Its packets vanish, and its published port is closed.
func (e *Ensemble) Unplug(ctx context.Context, id int) error {
	return e.change("unplug", id, func(s *server) error {
		if !s.plugged {
			return nil
		}
		_, err := e.docker.NetworkDisconnect(ctx, e.network.ID, client.NetworkDisconnectOptions{Container: s.container.ID, Force: true})
		if err == nil {
			s.plugged, s.addresses = false, nil
		}
		return err
	})
}

// Plug connects an unplugged server again, under the same names, and returns when
// its client port can be reached.
func (e *Ensemble) Plug(ctx context.Context, id int) error {
	err := e.change("plug", id, func(s *server) error {
		if s.plugged {
			return nil
		}
		_, err := e.docker.NetworkConnect(ctx, e.network.ID, client.NetworkConnectOptions{
			Container: s.container.ID, EndpointConfig: &apinetwork.EndpointSettings{Aliases: []string{s.alias()}},
		})
		if err == nil {
			s.plugged, s.addresses = true, nil
		}
		return err
	})
	if err != nil {
		return err
	}
	s := e.servers[id-1]
	for s.able() {
		bounded, cancel := context.WithTimeout(ctx, time.Second)
		_, _, err := ensemble.AskStatus(bounded, s.Server)
		cancel()
		if err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("plug server %d: %w", id, context.Cause(ctx))
		case <-time.After(pollInterval):
		}
	}
	return nil
}
