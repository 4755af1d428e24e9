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
	"github.com/zkverify/zkverify/ensemble/model/live"
	"github.com/zkverify/zkverify/ensemble/model/tree"
)

// Ensemble is a set of servers in this process. It implements ensemble.Ensemble,
// ensemble.Processes and ensemble.PeerLinks.
type Ensemble struct {
	config  ensemble.LocalConfig
	version string
	root    string
	servers []*server // by ID - 1
	peers   map[[2]int]*link
	live    *live.Live
	memory  *memory // of an ensemble in memory
	ledger  *ledger // of an ensemble in memory
	tasks   sync.WaitGroup

	mu     sync.Mutex // guards the fields below; it is not held while live is called
	closed bool
}

var (
	_ ensemble.Ensemble  = (*Ensemble)(nil)
	_ ensemble.Processes = (*Ensemble)(nil)
	_ ensemble.PeerLinks = (*Ensemble)(nil)
)

// Versions returns the versions of ZooKeeper that can be simulated, the default first.
func Versions() []string { return []string{"3.8.0", "3.9.6"} }

// Start starts servers and returns when all of them serve. It ignores config's Java, Dir,
// FullJIT and Peers; ZooKeeper is one of Versions. ctx bounds the start alone. It returns
// ensemble.ErrNoVersion, ErrPortTaken or ErrNotServing, wrapped with the details; nothing
// is left then.
func Start(ctx context.Context, config ensemble.LocalConfig) (*Ensemble, error) {
	fail := func(err error) (*Ensemble, error) { return nil, fmt.Errorf("start simulated ZooKeeper: %w", err) }
	e, err := newEnsemble(config, Memory{Seed: mathrand.Uint64()}, nil)
	if err != nil {
		return fail(err)
	}
	e.root = "/zkverify/simulated-" + rand.Text()[:10]
	for i, s := range e.servers {
		port := 0
		if len(e.config.ClientPorts) > 0 {
			port = e.config.ClientPorts[i]
		}
		s.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	}
	e.live.Start()
	for _, s := range e.servers {
		if err := s.listen(); err != nil {
			_ = e.Close()
			return fail(fmt.Errorf("%w (%w)", ensemble.ErrPortTaken, err))
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, e.config.StartLimit, ensemble.ErrNotServing)
	defer cancel()
	for _, s := range e.servers {
		if err := e.serves(ctx, s); err != nil {
			_ = e.Close()
			return fail(err)
		}
	}
	return e, nil
}

// newEnsemble makes servers and elects a leader, in no time. The servers do not follow a
// clock yet, and have no addresses. They enter their transactions in the ledger, unless it is nil.
func newEnsemble(config ensemble.LocalConfig, m Memory, l *ledger) (*Ensemble, error) {
	if err := config.SetDefaults(); err != nil {
		return nil, err
	}
	e := &Ensemble{config: config, version: config.ZooKeeper, peers: map[[2]int]*link{}, ledger: l}
	if config.Observers > 0 {
		return nil, fmt.Errorf("simulated servers have no observers: %w", errors.ErrUnsupported)
	}
	if e.version == "" {
		e.version = Versions()[0]
	}
	if !slices.Contains(Versions(), e.version) {
		return nil, fmt.Errorf("%w %s to simulate: choose one of %s", ensemble.ErrNoVersion, e.version, strings.Join(Versions(), ", "))
	}
	var applied func(*tree.Txn, bool)
	if l != nil {
		applied = l.applied
	}
	var err error
	if e.live, err = live.New(cluster.Config{
		Servers: config.Servers, FirstID: config.FirstID, Seed: m.Seed, Reconnected: m.Reconnected,
		Latency: 100 * time.Microsecond, SyncTime: 500 * time.Microsecond,
		Server: model.Config{
			Version: e.version, TickTime: config.TickTime, InitLimit: config.InitLimit, SyncLimit: config.SyncLimit,
			MinSessionTimeout: config.MinSessionTimeout, MaxSessionTimeout: config.MaxSessionTimeout,
			ContainerInterval: config.ContainerInterval, Start: time.Now(), SASLUsers: config.SASLUsers, Applied: applied,
			DemandSASL: slices.Contains(config.Properties, "zookeeper.enforce.auth.schemes=sasl") || slices.Contains(config.Properties, "zookeeper.sessionRequireClientSASLAuth=true"),
		},
	}); err != nil {
		return nil, err
	}
	for i := range config.Servers {
		s := &server{ensemble: e, myid: config.FirstID + i}
		s.ID = i + 1
		e.servers = append(e.servers, s)
	}
	e.live.Print = func(myid int, line string) { e.byMyid(myid).note(line) }
	e.openPeers()
	return e, nil
}

// serves waits until a server serves.
func (e *Ensemble) serves(ctx context.Context, s *server) error {
	if e.live.Await(ctx.Done(), func() bool { return e.live.Cluster.Mode(s.myid) != "" }) {
		return nil
	}
	if ctx.Err() == nil {
		return ensemble.ErrClosed
	}
	return fmt.Errorf("server %d: %w", s.ID, context.Cause(ctx))
}

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

// Leader returns the ID of the current leader, or ErrUnknownLeader. If two servers lead,
// it returns the one with the later transaction.
func (e *Ensemble) Leader(context.Context) (int, error) {
	leader, zxid := 0, int64(-1)
	e.live.Do(func() {
		for _, s := range e.servers {
			if z := e.live.Cluster.LastZxid(s.myid); e.live.Cluster.Mode(s.myid) == "leader" && z > zxid {
				leader, zxid = s.ID, z
			}
		}
	})
	if leader == 0 {
		return 0, fmt.Errorf("%d simulated servers asked: %w", len(e.servers), ensemble.ErrUnknownLeader)
	}
	return leader, nil
}

// Version returns the version of ZooKeeper that is simulated.
func (e *Ensemble) Version() string { return e.version }

// TickTime returns the servers' tick.
func (e *Ensemble) TickTime() time.Duration { return e.config.TickTime }

// Root returns the path under which a run keeps all its nodes. It does not create the
// node.
func (e *Ensemble) Root() string { return e.root }

// Close ends the servers, their connections and goroutines.
func (e *Ensemble) Close() error {
	e.mu.Lock()
	closed := e.closed
	e.closed = true
	e.mu.Unlock()
	if closed {
		return nil
	}
	var errs []error
	e.live.Do(func() {
		for _, s := range e.servers {
			if s.listener != nil {
				errs = append(errs, s.listener.Close())
			}
		}
	})
	e.live.Stop()
	e.tasks.Wait()
	return errors.Join(errs...)
}
