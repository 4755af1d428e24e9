package ensemble

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/zkverify/zkverify/ensemble/internal/relay"
)

// pollInterval is how often a starting server is asked whether it serves.
const pollInterval = 20 * time.Millisecond

// errPortLost tells StartLocal that a port was taken between its choice and its
// use.
var errPortLost = errors.New("a port was taken meanwhile")

// server is one server of a Local: its place on disk and its process, if any.
type server struct {
	Server
	local                    *Local
	client, quorum, election int
	dir, log                 string
	relay                    *relay.Relay // in front of the quorum port; nil without links

	mu      sync.Mutex
	process *process // the latest; nil before the first
	paused  bool
	closed  bool
}

// write writes what the server reads when it starts.
func (s *server) write() error {
	if err := os.MkdirAll(filepath.Join(s.dir, "data"), 0o755); err != nil {
		return err
	}
	config := s.local.config.zooCfg(filepath.Join(s.dir, "data"), s.client)
	for _, line := range s.local.peerLines(s) {
		config += line + "\n"
	}
	files := map[string]string{"zoo.cfg": config, filepath.Join("data", "myid"): strconv.Itoa(s.ID) + "\n"}
	for name, text := range logConfigs {
		files[name] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// start starts the process, if none is alive.
func (s *server) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if s.process != nil && s.process.alive() {
		return nil
	}
	args := append(s.local.config.jvmFlags(),
		"-cp", s.dir+string(filepath.ListSeparator)+s.local.class,
		"org.apache.zookeeper.server.quorum.QuorumPeerMain", filepath.Join(s.dir, "zoo.cfg"))
	p, err := s.local.spawner.start(s.dir, s.log, s.local.java, args...)
	if err != nil {
		return fmt.Errorf("server %d: %w", s.ID, err)
	}
	s.process, s.paused = p, false
	return nil
}

// serves waits until the server takes part in a quorum: an open port is not
// enough, it opens before the election.
func (s *server) serves(ctx context.Context) error {
	s.mu.Lock()
	p := s.process
	s.mu.Unlock()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if status, _, err := AskStatus(ctx, s.Addr); err == nil && status.Serving() {
			return nil
		}
		select {
		case <-p.done:
			return s.died()
		case <-ctx.Done():
			return fmt.Errorf("server %d at %s: %w; last lines of %s:\n%s", s.ID, s.Addr, context.Cause(ctx), s.log, lastLines(s.log, 10))
		case <-s.local.ctx.Done():
			return ErrClosed
		case <-tick.C:
		}
	}
}

func (s *server) died() error {
	lines := lastLines(s.log, 12)
	if s.local.ctx.Err() != nil {
		return ErrClosed
	}
	err := fmt.Errorf("server %d: %w; last lines of %s:\n%s", s.ID, ErrServerDied, s.log, lines)
	if strings.Contains(lines, "Address already in use") {
		return fmt.Errorf("%w: %w", errPortLost, err)
	}
	return err
}

// kill ends the process and waits for its end.
func (s *server) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		s.process.kill()
	}
	s.paused = false
}

func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.kill()
}

// pause stops the process with SIGSTOP and returns when it stands still.
func (s *server) pause(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return ErrNotRunning
	}
	if err := s.process.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	s.paused = true
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !stopped(s.process.cmd.Process.Pid) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}

// resume lets a paused process go on. Any other is left as it is.
func (s *server) resume() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = false
	if s.process == nil {
		return nil
	}
	if err := s.process.signal(syscall.SIGCONT); !errors.Is(err, ErrNotRunning) {
		return err
	}
	return nil
}

// able tells whether the server can answer at all.
func (s *server) able() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process != nil && s.process.alive() && !s.paused
}
