package ensemble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble/child"
	"github.com/zkverify/zkverify/ensemble/failpoints"
	"github.com/zkverify/zkverify/ensemble/links"
)

// pollInterval is the interval at which a starting server is asked whether it serves.
const pollInterval = 20 * time.Millisecond

// errPortLost tells StartLocal that a port was taken between its choice and its
// use.
var errPortLost = errors.New("a port was taken meanwhile")

// server is one server of a Local: its place on disk and its process, if any.
type server struct {
	Server
	local                    *Local
	client, quorum, election int
	agent                    int // the port of Byteman, on servers with failpoints
	clock                    clock
	dir, log                 string
	relay                    *links.Relay // in front of the quorum port; nil without links
	socks                    *links.Relay // what the server dials its peers through; nil without links

	mu       sync.Mutex
	process  *child.Process // the latest; nil before the first
	began    int64          // offset in the log, in bytes, at which the latest process begins
	removed  bool           // it was removed from the members at some time
	upgraded bool           // it runs, or is to run, as the other version
	paused   bool
	closed   bool
}

// write writes the files that the server reads when it starts.
func (s *server) write() error {
	if err := os.MkdirAll(filepath.Join(s.dir, "data"), 0o755); err != nil {
		return err
	}
	files := map[string]string{filepath.Join("data", "myid"): strconv.Itoa(s.local.config.myid(s.ID)) + "\n"}
	config := s.local.config.zooCfg(filepath.Join(s.dir, "data"))
	if s.Observer {
		config += "peerType=observer\n"
	}
	if s.local.config.Reconfig {
		members := filepath.Join(s.dir, "members.cfg")
		config += "reconfigEnabled=true\ndynamicConfigFile=" + members + "\n"
		for _, member := range s.local.servers {
			files["members.cfg"] += s.local.member(member) + "\n"
		}
	} else {
		config += fmt.Sprintf("clientPort=%d\nclientPortAddress=127.0.0.1\n%s\n", s.client, strings.Join(s.local.peerLines(), "\n"))
	}
	files["zoo.cfg"] = config
	if users := s.local.config.SASLUsers; users != nil {
		files[jaasFile] = jaas(users)
	}
	if s.local.byteman != "" {
		files[clockFile] = failpoints.Clock()
	}
	for name, text := range logConfigs {
		files[name] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), modeOf(name)); err != nil {
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
	if s.process != nil && s.process.Alive() {
		return nil
	}
	args := slices.Concat(s.saslFlags(), s.socksFlags(), s.local.config.jvmFlags(), s.agentFlag()) // Properties win
	if s.local.config.Reconfig {
		args = append(args, superFlag(s.local.super))
	}
	args = append(args,
		"-cp", s.dir+string(filepath.ListSeparator)+s.class(),
		"org.apache.zookeeper.server.quorum.QuorumPeerMain", filepath.Join(s.dir, "zoo.cfg"))
	out, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("server %d: %w", s.ID, err)
	}
	defer out.Close()
	log, err := out.Stat()
	if err != nil {
		return fmt.Errorf("server %d: %w", s.ID, err)
	}
	cmd := exec.Command(s.local.java, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, out, out
	p, err := s.local.spawner.Start(cmd)
	if err != nil {
		return fmt.Errorf("server %d: %w", s.ID, err)
	}
	s.process, s.began, s.paused = p, log.Size(), false
	go s.trimLog(p) // ends with the process
	return nil
}

// trimLog keeps the log from growing without bound while a process writes it.
func (s *server) trimLog(p *child.Process) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.trim()
		case <-p.Done():
			return
		}
	}
}

func (s *server) trim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if shortened, err := child.Trim(s.log); err == nil && shortened {
		s.began = 0
	}
}

// serves waits until the server takes part in a quorum: the port opens before the
// election, so an open port is not enough. It returns the server's status.
func (s *server) serves(ctx context.Context) (Status, error) {
	s.mu.Lock()
	p := s.process
	s.mu.Unlock()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if status, _, err := AskStatus(ctx, s.Server); err == nil && status.Serving() {
			return status, nil
		}
		select {
		case <-p.Done():
			return Status{}, s.died()
		case <-ctx.Done():
			return Status{}, fmt.Errorf("server %d at %s: %w; last lines of %s:\n%s", s.ID, s.Addr, context.Cause(ctx), s.log, child.LastLines(s.log, 10))
		case <-s.local.ctx.Done():
			return Status{}, ErrClosed
		case <-tick.C:
		}
	}
}

func (s *server) died() error {
	lines := child.LastLines(s.log, 12)
	if s.local.ctx.Err() != nil {
		return ErrClosed
	}
	err := fmt.Errorf("server %d: %w; last lines of %s:\n%s", s.ID, ErrServerDied, s.log, lines)
	if s.logged("Address already in use") {
		return fmt.Errorf("%w: %w", errPortLost, err)
	}
	return err
}

// logged reports whether the latest process has written a text into the log. The text may
// be far from the end: a server goes on for seconds after one of its listeners has
// failed.
func (s *server) logged(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	log, err := os.ReadFile(s.log)
	return err == nil && bytes.Contains(log[min(s.began, int64(len(log))):], []byte(text))
}

// kill ends the process and waits for its end.
func (s *server) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		s.process.Kill()
	}
	s.paused = false
}

func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.kill()
	s.trim()
}

// pause stops the process with SIGSTOP and returns when it stands still.
func (s *server) pause(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return ErrNotRunning
	}
	err := s.process.Stop(ctx)
	if errors.Is(err, child.ErrEnded) {
		return ErrNotRunning
	}
	s.paused = true // or about to be
	return err
}

// resume lets a paused process go on. It leaves any other as it is.
func (s *server) resume() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = false
	if s.process == nil {
		return nil
	}
	if err := s.process.Continue(); !errors.Is(err, child.ErrEnded) {
		return err
	}
	return nil
}

// able reports whether the server can answer at all.
func (s *server) able() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process != nil && s.process.Alive() && !s.paused
}
