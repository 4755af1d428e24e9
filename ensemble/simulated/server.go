package simulated

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/internal/wait"
)

// server is a simulated server's port.
type server struct {
	ensemble.Server
	ensemble *Ensemble
	myid     int
	listener net.Listener // nil while the server is dead, and in memory

	mu  sync.Mutex // guards the fields below
	log []byte
}

// listen opens the server's port, and accepts until it is closed. The first time the
// system may choose the port. A server in memory has none.
func (s *server) listen() error {
	if s.ensemble.memory != nil {
		return nil
	}
	l, err := net.Listen("tcp", s.Addr)
	if err != nil {
		return err
	}
	s.Addr = l.Addr().String()
	s.listener = l
	s.ensemble.tasks.Go(func() {
		for {
			tcp, err := l.Accept()
			if err != nil {
				return
			}
			s.accept(tcp)
		}
	})
	return nil
}

func (s *server) accept(tcp net.Conn) {
	ip, _, _ := net.SplitHostPort(tcp.RemoteAddr().String())
	accepted := false
	s.ensemble.live.Do(func() {
		c := &conn{server: s, tcp: tcp, wake: make(chan struct{}, 1)}
		if c.id, accepted = s.ensemble.live.Accept(s.myid, ip, c); !accepted {
			return
		}
		s.ensemble.tasks.Go(c.read)
		s.ensemble.tasks.Go(c.write)
	})
	if !accepted {
		_ = tcp.Close()
	}
}

// note adds a line to the server's output.
func (s *server) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = fmt.Appendf(s.log, "%s %s\n", time.Now().UTC().Format("2006-01-02 15:04:05.000"), text)
}

func (e *Ensemble) server(id int) (*server, error) {
	if id < 1 || id > len(e.servers) {
		return nil, fmt.Errorf("no server %d among %d", id, len(e.servers))
	}
	return e.servers[id-1], nil
}

// change makes a change to a server, and adds a line about it to its output.
func (e *Ensemble) change(what string, id int, change func(*server) error) error {
	s, err := e.server(id)
	if err == nil && !e.live.Do(func() {
		if err = change(s); err == nil {
			s.note(what)
		}
	}) {
		err = ensemble.ErrClosed
	}
	if err != nil {
		return fmt.Errorf("%s server %d: %w", what, id, err)
	}
	return nil
}

// Kill ends the server: its port and connections are closed, and a random part of the
// data that it had not synced to its disk is lost. Killing a dead server does nothing.
func (e *Ensemble) Kill(_ context.Context, id int) error {
	return e.change("kill", id, func(s *server) error {
		var err error
		if s.listener != nil {
			err = s.listener.Close()
			s.listener = nil
		}
		e.live.Cluster.Kill(s.myid)
		return err
	})
}

// Pause stops the server: connections stay open and are accepted, nothing is answered.
// It returns ErrNotRunning for a server that was killed.
func (e *Ensemble) Pause(_ context.Context, id int) error {
	return e.change("pause", id, func(s *server) error {
		if !e.live.Cluster.Running(s.myid) {
			return ensemble.ErrNotRunning
		}
		e.live.Cluster.Pause(s.myid)
		return nil
	})
}

// Resume lets a paused server go on, and leaves any other as it is.
func (e *Ensemble) Resume(_ context.Context, id int) error {
	return e.change("resume", id, func(s *server) error {
		e.live.Cluster.Resume(s.myid)
		return nil
	})
}

// Restart starts the server again on its disk and port, killing it first if it still
// runs, and returns when it serves: never before a majority of the servers runs. When ctx
// ends first the server goes on starting.
func (e *Ensemble) Restart(ctx context.Context, id int) error {
	if err := e.Kill(ctx, id); err != nil {
		return err
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, e.config.StartLimit, ensemble.ErrNotServing)
		defer cancel()
	}
	if err := e.restart(ctx, id); err != nil {
		return err
	}
	if err := e.serves(ctx, e.servers[id-1]); err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	return nil
}

// restart opens the port that the server had, and starts the server. A connection of
// another process may have the port as its own for a moment.
func (e *Ensemble) restart(ctx context.Context, id int) error {
	for {
		err := e.change("restart", id, func(s *server) error {
			if err := s.listen(); err != nil {
				return err
			}
			return e.live.Cluster.Restart(s.myid)
		})
		if !errors.Is(err, syscall.EADDRINUSE) || !wait.For(ctx, portRetry) {
			return err
		}
	}
}

const portRetry = 20 * time.Millisecond

// Running reports whether the server is alive, even if paused.
func (e *Ensemble) Running(id int) (running bool) {
	if s, err := e.server(id); err == nil {
		e.live.Do(func() { running = e.live.Cluster.Running(s.myid) })
	}
	return running
}

// Output returns the server's output, with lines about its faults.
func (e *Ensemble) Output(_ context.Context, id int) (output []byte, err error) {
	s, err := e.server(id)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(output, s.log...), nil
}
