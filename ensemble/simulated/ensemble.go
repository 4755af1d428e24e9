package simulated

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/model"
	"github.com/zkverify/zkverify/ensemble/model/cluster"
)

// Ensemble is servers in this process. It implements ensemble.Ensemble,
// ensemble.Processes and ensemble.PeerLinks.
type Ensemble struct {
	config  ensemble.LocalConfig
	version string
	root    string
	start   time.Time
	servers []*server // by ID - 1
	peers   map[[2]int]*peerLink
	kick    chan struct{} // capacity 1: there is something new to wait for
	ended   chan struct{}
	tasks   sync.WaitGroup

	mu      sync.Mutex // guards what follows, and the servers' connections
	cluster *cluster.Cluster
	closed  bool
}

var (
	_ ensemble.Ensemble  = (*Ensemble)(nil)
	_ ensemble.Processes = (*Ensemble)(nil)
	_ ensemble.PeerLinks = (*Ensemble)(nil)
)

// Versions are the versions of ZooKeeper that can be simulated, the default first.
func Versions() []string { return []string{"3.8.0", "3.9.6"} }

// Start starts servers and returns when all of them serve. config's Java, Dir, FullJIT
// and Peers are of no use here; ZooKeeper is a version, one of Versions. ctx bounds the
// start alone. It returns ensemble.ErrNoVersion, ErrPortTaken or ErrNotServing, wrapped
// with the details; nothing is left then.
func Start(ctx context.Context, config ensemble.LocalConfig) (_ *Ensemble, err error) {
	fail := func(err error) (*Ensemble, error) { return nil, fmt.Errorf("start simulated ZooKeeper: %w", err) }
	if err := config.SetDefaults(); err != nil {
		return fail(err)
	}
	e := &Ensemble{
		config: config, version: config.ZooKeeper, root: "/zkverify/simulated-" + rand.Text()[:10], start: time.Now(),
		peers: map[[2]int]*peerLink{}, kick: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	if e.version == "" {
		e.version = Versions()[0]
	}
	if !slices.Contains(Versions(), e.version) {
		return fail(fmt.Errorf("%w %s to simulate: choose one of %s", ensemble.ErrNoVersion, e.version, strings.Join(Versions(), ", ")))
	}
	if e.cluster, err = cluster.New(cluster.Config{
		Servers: config.Servers, FirstID: config.FirstID, Seed: mathrand.Uint64(),
		Latency: 100 * time.Microsecond, SyncTime: 500 * time.Microsecond,
		Server: model.Config{
			Version: e.version, TickTime: config.TickTime, InitLimit: config.InitLimit, SyncLimit: config.SyncLimit,
			MinSessionTimeout: config.MinSessionTimeout, MaxSessionTimeout: config.MaxSessionTimeout,
			ContainerInterval: containerInterval, Start: e.start,
		},
	}, e); err != nil {
		return fail(err)
	}
	for i := range config.Servers {
		s := &server{ensemble: e, myid: config.FirstID + i, conns: map[model.ConnID]*conn{}}
		s.ID = i + 1
		port := 0
		if len(config.ClientPorts) > 0 {
			port = config.ClientPorts[i]
		}
		s.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		e.servers = append(e.servers, s)
	}
	for _, s := range e.servers {
		if err := s.listen(); err != nil {
			_ = e.Close()
			return fail(fmt.Errorf("%w (%w)", ensemble.ErrPortTaken, err))
		}
	}
	e.openPeers()
	e.tasks.Go(e.run)
	ctx, cancel := context.WithTimeoutCause(ctx, config.StartLimit, ensemble.ErrNotServing)
	defer cancel()
	for _, s := range e.servers {
		if err := e.serves(ctx, s); err != nil {
			_ = e.Close()
			return fail(err)
		}
	}
	return e, nil
}

// containerInterval is how often containers and expired nodes are deleted, as with the
// local servers of a run.
const containerInterval = 250 * time.Millisecond

// run lets happen what is due, until Close. Start owns the goroutine.
func (e *Ensemble) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-e.ended:
			return
		case <-timer.C:
		case <-e.kick:
		}
		e.mu.Lock()
		e.advance()
		due := e.cluster.Due()
		e.mu.Unlock()
		timer.Reset(time.Until(e.start.Add(due)))
	}
}

// advance lets happen what is due by now. e is locked.
func (e *Ensemble) advance() { e.cluster.Advance(max(e.cluster.Now(), time.Since(e.start))) }

// do changes something, as of now. It reports false after Close.
func (e *Ensemble) do(change func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.advance()
	change()
	select {
	case e.kick <- struct{}{}:
	default:
	}
	return true
}

// serves waits until a server serves.
func (e *Ensemble) serves(ctx context.Context, s *server) error {
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for {
		mode := ""
		if !e.do(func() { mode = e.cluster.Mode(s.myid) }) {
			return ensemble.ErrClosed
		}
		if mode != "" {
			return nil
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return fmt.Errorf("server %d: %w", s.ID, context.Cause(ctx))
		}
	}
}

// Reply implements cluster.Clients; e is locked.
func (e *Ensemble) Reply(myid int, id model.ConnID, data []byte) {
	if c := e.byMyid(myid).conns[id]; c != nil {
		c.send(data)
	}
}

// Hangup implements cluster.Clients; e is locked.
func (e *Ensemble) Hangup(myid int, id model.ConnID) {
	if c := e.byMyid(myid).conns[id]; c != nil {
		c.hangUp()
	}
}

// Print implements cluster.Printer; e is locked.
func (e *Ensemble) Print(myid int, line string) { e.byMyid(myid).note(line) }

func (e *Ensemble) byMyid(myid int) *server { return e.servers[myid-e.config.FirstID] }

// Kind returns "simulated".
func (e *Ensemble) Kind() string { return "simulated" }

// Servers lists the servers by ascending ID.
func (e *Ensemble) Servers() []ensemble.Server {
	var list []ensemble.Server
	for _, s := range e.servers {
		list = append(list, s.Server)
	}
	return list
}

// Leader returns the ID of the server that leads now, or ErrUnknownLeader. Of two, the
// one that has heard more leads.
func (e *Ensemble) Leader(context.Context) (int, error) {
	leader, zxid := 0, int64(-1)
	e.do(func() {
		for _, s := range e.servers {
			if z := e.cluster.LastZxid(s.myid); e.cluster.Mode(s.myid) == "leader" && z > zxid {
				leader, zxid = s.ID, z
			}
		}
	})
	if leader == 0 {
		return 0, fmt.Errorf("%d simulated servers asked: %w", len(e.servers), ensemble.ErrUnknownLeader)
	}
	return leader, nil
}

// Version is the version of ZooKeeper that is simulated.
func (e *Ensemble) Version() string { return e.version }

// TickTime is the servers' tick.
func (e *Ensemble) TickTime() time.Duration { return e.config.TickTime }

// Root is the path under which a run keeps all its nodes. It is not created.
func (e *Ensemble) Root() string { return e.root }

// Close ends the servers, their connections and goroutines.
func (e *Ensemble) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	var errs []error
	for _, s := range e.servers {
		if s.listener != nil {
			errs = append(errs, s.listener.Close())
		}
		for _, c := range s.conns {
			c.hangUp()
			_ = c.tcp.Close()
		}
	}
	close(e.ended)
	e.mu.Unlock()
	e.tasks.Wait()
	return errors.Join(errs...)
}
