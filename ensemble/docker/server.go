package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	apinetwork "github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/network"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
)

// pollInterval is the interval at which a starting server is asked whether it serves.
const pollInterval = 50 * time.Millisecond

// server is one server and its container, which stays the same over kills and restarts.
type server struct {
	ensemble.Server
	ensemble  *Ensemble
	published map[int]int // its published ports for peers, if any; set before a relay leads there
	container *testcontainers.DockerContainer

	mu                      sync.Mutex
	addresses               map[string]string // see address
	killed, paused, plugged bool
	copied                  string // a folder with a copy of its data, see DataDir
}

// alias returns the server's name in the containers' network.
func (s *server) alias() string { return fmt.Sprintf("zk%d", s.ID) }

// create makes and starts the server's container.
func (s *server) create(ctx context.Context) error {
	port, err := links.FreePorts(1)
	if err != nil {
		return err
	}
	// A port that Docker chose would change at each start.
	published := apinetwork.PortMap{apinetwork.MustParsePort(clientPort): {{HostIP: loopback, HostPort: strconv.Itoa(port[0])}}}
	s.Addr = fmt.Sprintf("%s:%d", loopback, port[0])
	var lines []string
	for _, to := range s.ensemble.servers {
		lines = append(lines, s.ensemble.peers.line(s, to))
	}
	for number, at := range s.published {
		published[apinetwork.MustParsePort(fmt.Sprintf("%d/tcp", number))] = []apinetwork.PortBinding{{HostIP: loopback, HostPort: strconv.Itoa(at)}}
	}
	c, err := testcontainers.Run(ctx, s.ensemble.config.Image,
		testcontainers.WithEnv(s.ensemble.config.environment(s.ID, strings.Join(lines, " "))),
		testcontainers.WithLabels(labels()),
		testcontainers.WithExposedPorts(clientPort),
		network.WithNetwork([]string{s.alias()}, s.ensemble.network),
		testcontainers.WithHostConfigModifier(func(h *container.HostConfig) {
			h.PortBindings = published
			h.LogConfig = container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "8m", "max-file": "2"}}
			if s.ensemble.peers != nil {
				h.ExtraHosts = s.ensemble.peers.extraHosts
			}
		}),
	)
	s.mu.Lock() // the others may dial it by now
	defer s.mu.Unlock()
	s.container, s.plugged = c, err == nil
	if err != nil {
		return fmt.Errorf("server %d: %w", s.ID, err)
	}
	return nil
}

// serves waits until the server serves, and returns its status.
func (s *server) serves(ctx context.Context) (ensemble.Status, error) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if status, _, err := ensemble.AskStatus(ctx, s.Server); err == nil && status.Serving() {
			return status, nil
		}
		if state, err := s.container.State(ctx); err == nil && !state.Running {
			return ensemble.Status{}, fmt.Errorf("server %d: %w; its last lines:\n%s", s.ID, ensemble.ErrServerDied, s.lastLines())
		}
		select {
		case <-ctx.Done():
			return ensemble.Status{}, fmt.Errorf("server %d at %s: %w; its last lines:\n%s", s.ID, s.Addr, context.Cause(ctx), s.lastLines())
		case <-s.ensemble.ctx.Done():
			return ensemble.Status{}, ensemble.ErrClosed
		case <-tick.C:
		}
	}
}

// logs returns the output of all runs of the server.
func (s *server) logs(ctx context.Context) ([]byte, error) {
	r, err := s.container.Logs(ctx)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	return text, errors.Join(err, r.Close())
}

func (s *server) lastLines() string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	text, err := s.logs(ctx)
	if err != nil {
		return "  (" + err.Error() + ")"
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-12):], "\n  ")
}

// remove writes the log and removes the container.
func (s *server) remove(ctx context.Context) error {
	if s.container == nil {
		return nil
	}
	var errs []error
	if s.ensemble.config.Dir != "" {
		text, err := s.logs(ctx)
		errs = append(errs, err, os.WriteFile(s.ensemble.logPath(s.ID), text, 0o644))
	}
	_, err := s.ensemble.docker.ContainerRemove(ctx, s.container.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	errs = append(errs, unlessGone(err))
	if s.copied != "" {
		errs = append(errs, os.RemoveAll(s.copied))
	}
	return errors.Join(errs...)
}

// unlessGone returns the error of a removal, or nil if another process has removed the
// thing, or is removing it.
func unlessGone(err error) error {
	if errdefs.IsNotFound(err) || errdefs.IsConflict(err) && strings.Contains(err.Error(), "already in progress") {
		return nil
	}
	return err
}

// able reports whether the server can answer at all.
func (s *server) able() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plugged && !s.killed && !s.paused
}

// logPath returns the file to which Close writes the log of a server.
func (e *Ensemble) logPath(id int) string {
	return filepath.Join(e.config.Dir, fmt.Sprintf("server-%d.log", id))
}

// Output returns the output of all runs of the server.
func (e *Ensemble) Output(ctx context.Context, id int) (text []byte, err error) {
	err = e.change("read the output of", id, func(s *server) (err error) {
		text, err = s.logs(ctx)
		return err
	})
	return text, err
}
