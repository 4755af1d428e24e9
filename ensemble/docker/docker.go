package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
	"github.com/testcontainers/testcontainers-go/network"
	"golang.org/x/sync/errgroup"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
)

// Ensemble is a set of ZooKeeper servers in containers.
type Ensemble struct {
	config  Config
	root    string
	version string
	docker  *testcontainers.DockerClient
	network *testcontainers.DockerNetwork
	peers   *peers // nil without links
	servers []*server

	ctx    context.Context // ends at Close
	cancel context.CancelCauseFunc
	once   sync.Once
	closed error
}

var (
	_ ensemble.Ensemble  = (*Ensemble)(nil)
	_ ensemble.Processes = (*Ensemble)(nil)
	_ ensemble.PeerLinks = (*Ensemble)(nil)
	_ ensemble.Pluggable = (*Ensemble)(nil)
)

// cleaning bounds the removal of one ensemble.
const cleaning = 30 * time.Second

// prepare sets up testcontainers for the whole process: it prints nothing, and uses its
// reaper only on request.
var prepare = sync.OnceFunc(func() {
	log.SetDefault(log.NewNoopLogger())
	if _, set := os.LookupEnv("TESTCONTAINERS_RYUK_DISABLED"); !set {
		_ = os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
	}
})

// Start starts the servers and returns when all of them serve. ctx bounds the
// start alone. It returns ErrNoDocker, ErrNoImage, ensemble.ErrServerDied,
// ensemble.ErrNotServing or ensemble.ErrDirectPeerLink, wrapped with the
// details; nothing is left running then.
func Start(ctx context.Context, config Config) (_ *Ensemble, err error) {
	if config, err = config.withDefaults(); err != nil {
		return nil, fmt.Errorf("start ZooKeeper in containers: %w", err)
	}
	prepare()
	e := &Ensemble{config: config}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	defer func() {
		if err != nil {
			err = fmt.Errorf("start ZooKeeper in containers: %w", errors.Join(err, e.Close()))
		}
	}()
	if e.docker, err = testcontainers.NewDockerClientWithOpts(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDocker, err)
	}
	if _, err := e.docker.Ping(ctx, client.PingOptions{}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDocker, err)
	}
	// testcontainers ignores a DOCKER_HOST that does not answer, and uses another daemon.
	if host := os.Getenv("DOCKER_HOST"); host != "" && host != e.docker.DaemonHost() {
		return nil, fmt.Errorf("%w: it is %s, where nothing answers", ErrNoDocker, host)
	}
	if err := e.removeLeftovers(ctx); err != nil {
		return nil, err
	}
	if err := e.fetch(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, config.StartLimit, ensemble.ErrNotServing)
	defer cancel()
	return e, e.start(ctx)
}

// fetch pulls the image unless this machine has it.
func (e *Ensemble) fetch(ctx context.Context) error {
	if _, err := e.docker.ImageInspect(ctx, e.config.Image); err == nil {
		return nil
	}
	pulled, err := e.docker.ImagePull(ctx, e.config.Image, client.ImagePullOptions{})
	if err == nil {
		err = errors.Join(pulled.Wait(ctx), pulled.Close())
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %w", e.config.Image, ErrNoImage, err)
	}
	return nil
}

func (e *Ensemble) start(ctx context.Context) error {
	var err error
	if e.network, err = network.New(ctx, network.WithLabels(labels())); err != nil {
		return err
	}
	e.root = "/zkverify/" + e.network.Name
	for id := 1; id <= e.config.Servers; id++ {
		e.servers = append(e.servers, &server{Server: ensemble.Server{ID: id}, ensemble: e})
	}
	if e.config.PeerLinks {
		if e.peers, err = e.openPeers(ctx); err != nil {
			return err
		}
	}
	// All at once: none serves before a majority runs.
	var starting errgroup.Group
	for _, s := range e.servers {
		starting.Go(func() error { return s.create(ctx) })
	}
	if err := starting.Wait(); err != nil {
		return err
	}
	for _, s := range e.servers {
		status, err := s.serves(ctx)
		if err != nil {
			return err
		}
		e.version = status.Version
	}
	return e.checkPeers(ctx)
}

// Kind returns "docker".
func (e *Ensemble) Kind() string { return "docker" }

// Servers lists the servers by ascending ID.
func (e *Ensemble) Servers() []ensemble.Server {
	list := make([]ensemble.Server, len(e.servers))
	for i, s := range e.servers {
		list[i] = s.Server
	}
	return list
}

// Leader returns the ID of the current leader, within about a second, or
// ensemble.ErrUnknownLeader. It does not ask servers that are killed or paused.
func (e *Ensemble) Leader(ctx context.Context) (int, error) {
	var able []ensemble.Server
	for _, s := range e.servers {
		if s.able() {
			able = append(able, s.Server)
		}
	}
	return ensemble.LeaderOf(ctx, able)
}

// Version returns the ZooKeeper version that the servers report, such as "3.8.0".
func (e *Ensemble) Version() string { return e.version }

// TickTime returns the tick that the servers were configured with.
func (e *Ensemble) TickTime() time.Duration { return e.config.TickTime }

// Root returns the path under which a run keeps all its nodes. It does not create the
// node.
func (e *Ensemble) Root() string { return e.root }

// Image returns the image that the servers run.
func (e *Ensemble) Image() string { return e.config.Image }

// Peer returns the links, quorum and election, that carry the connections that server
// from opened to server to; none without Config.PeerLinks.
func (e *Ensemble) Peer(from, to int) []links.Link {
	if e.peers == nil {
		return nil
	}
	return append([]links.Link(nil), e.peers.links[[2]int{from, to}]...)
}

// Close writes the servers' logs, removes the containers and their network, and
// closes the peer links. It takes half a minute at most.
func (e *Ensemble) Close() error {
	e.once.Do(func() {
		e.cancel(ensemble.ErrClosed)
		ctx, cancel := context.WithTimeout(context.Background(), cleaning)
		defer cancel()
		errs := make([]error, len(e.servers))
		var removing sync.WaitGroup
		for i, s := range e.servers {
			removing.Go(func() { errs[i] = s.remove(ctx) })
		}
		removing.Wait()
		if e.network != nil {
			errs = append(errs, unlessGone(e.network.Remove(ctx)))
		}
		if e.peers != nil {
			errs = append(errs, e.peers.close())
		}
		if e.docker != nil {
			errs = append(errs, e.docker.Close())
		}
		e.closed = errors.Join(errs...)
	})
	return e.closed
}
