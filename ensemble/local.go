package ensemble

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble/child"
	"github.com/zkverify/zkverify/ensemble/links"
)

// Local is an ensemble of real ZooKeeper servers, each a process of this
// machine. It implements Ensemble, Processes, PeerLinks, Disks, Upgradable, Reconfigurable
// and Failpoints.
type Local struct {
	config  LocalConfig
	java    string
	class   string // Java class path of the version that the servers start with
	upgrade upgrade
	byteman string      // Byteman's jar, "" without failpoints
	super   Credentials // of the client that may reconfigure
	ownsDir bool
	root    string
	version string
	spawner *child.Spawner
	servers []*server // by ID - 1
	peers   map[[2]int][]links.Link

	ctx    context.Context // ends at Close
	cancel context.CancelCauseFunc
	once   sync.Once
	closed error // the error that Close returned
}

var (
	_ Ensemble   = (*Local)(nil)
	_ Processes  = (*Local)(nil)
	_ PeerLinks  = (*Local)(nil)
	_ Failpoints = (*Local)(nil)
)

// startTries bounds how often StartLocal chooses other ports because another process took
// one of those that were free a moment before.
const startTries = 3

// StartLocal starts ZooKeeper servers as processes of this machine and returns
// when all of them serve. ctx bounds the start alone. The servers do not outlive
// this process, even if it is killed. It returns ErrNoJava, ErrNoZooKeeper,
// ErrNoVersion, ErrSameVersion, ErrNoByteman, ErrPortTaken, ErrServerDied, ErrNotServing
// or ErrDirectPeerLink, wrapped with the details; nothing is left running then.
//
// All ports are bound to loopback.
func StartLocal(ctx context.Context, config LocalConfig) (*Local, error) {
	if err := config.SetDefaults(); err != nil {
		return nil, fmt.Errorf("start ZooKeeper: %w", err)
	}
	java, err := FindJava(config.Java)
	if err != nil {
		return nil, fmt.Errorf("start ZooKeeper: %w", err)
	}
	class, err := FindZooKeeper(config.ZooKeeper)
	if err != nil {
		return nil, fmt.Errorf("start ZooKeeper: %w", err)
	}
	other, err := findUpgrade(config.UpgradeTo, class)
	if err != nil {
		return nil, fmt.Errorf("start ZooKeeper: %w", err)
	}
	byteman, err := config.byteman()
	if err != nil {
		return nil, fmt.Errorf("start ZooKeeper: %w", err)
	}
	for _, port := range config.ClientPorts {
		if err := links.CheckPort(port); err != nil {
			return nil, fmt.Errorf("start ZooKeeper: client port %d: %w (%w)", port, ErrPortTaken, err)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, config.StartLimit, ErrNotServing)
	defer cancel()
	for try := 1; ; try++ {
		l, err := startOnce(ctx, config, java, class, other, byteman)
		if err == nil {
			return l, nil
		}
		if try == startTries || !errors.Is(err, errPortLost) || ctx.Err() != nil {
			return nil, fmt.Errorf("start ZooKeeper: %w", err)
		}
	}
}

func startOnce(ctx context.Context, config LocalConfig, java, class string, other upgrade, byteman string) (_ *Local, err error) {
	l := &Local{config: config, java: java, class: class, upgrade: other, byteman: byteman, super: newSuperuser(), peers: map[[2]int][]links.Link{}, spawner: child.NewSpawner()}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	defer func() {
		if err != nil {
			_ = l.Close()
		}
	}()
	if err := l.prepare(ctx); err != nil {
		return nil, err
	}
	for _, s := range l.servers {
		if err := s.start(); err != nil {
			return nil, err
		}
	}
	for _, s := range l.servers {
		status, err := s.serves(ctx)
		if err != nil {
			return nil, err
		}
		l.version = status.Version
	}
	if err := l.checkAgents(ctx); err != nil {
		return nil, err
	}
	if config.Peers != nil {
		if err := l.checkPeers(); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// prepare chooses ports, opens the links and writes all files that the servers read.
func (l *Local) prepare(ctx context.Context) error {
	if l.config.Dir == "" {
		dir, err := os.MkdirTemp("", "zkverify-ensemble-")
		if err != nil {
			return err
		}
		l.config.Dir, l.ownsDir = dir, true
	}
	dir, err := filepath.Abs(l.config.Dir)
	if err != nil {
		return err
	}
	l.config.Dir = dir
	l.root = "/zkverify/" + filepath.Base(dir)
	free, err := links.FreePorts(4 * l.config.All())
	if err != nil {
		return err
	}
	for i := range l.config.All() {
		s := &server{
			Server: Server{ID: i + 1, Observer: i >= l.config.Servers}, local: l, client: free[4*i], quorum: free[4*i+1], election: free[4*i+2], agent: free[4*i+3], clock: clock{rate: 1},
			dir: filepath.Join(dir, fmt.Sprintf("server-%d", i+1)),
			log: filepath.Join(dir, fmt.Sprintf("server-%d.log", i+1)),
		}
		if len(l.config.ClientPorts) > 0 {
			s.client = l.config.ClientPorts[i]
		}
		s.Addr = loopback(s.client)
		l.servers = append(l.servers, s)
	}
	if err := l.openPeers(ctx); err != nil {
		return err
	}
	for _, s := range l.servers {
		if err := s.write(); err != nil {
			return err
		}
	}
	return nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// Kind returns "local".
func (l *Local) Kind() string { return "local" }

// Servers lists the servers by ascending ID.
func (l *Local) Servers() []Server {
	list := make([]Server, len(l.servers))
	for i, s := range l.servers {
		list[i] = s.Server
	}
	return list
}

// Leader returns the ID of the current leader, within about a second, or
// ErrUnknownLeader. It does not ask servers that are killed or paused.
func (l *Local) Leader(ctx context.Context) (int, error) {
	var able []Server
	for _, s := range l.servers {
		if s.able() {
			able = append(able, s.Server)
		}
	}
	return LeaderOf(ctx, able)
}

// Version returns the ZooKeeper version that the servers report, such as "3.8.0".
func (l *Local) Version() string { return l.version }

// TickTime returns the tick that the servers were configured with.
func (l *Local) TickTime() time.Duration { return l.config.TickTime }

// Root returns the path under which a run keeps all its nodes. It does not create the
// node.
func (l *Local) Root() string { return l.root }

// DataDir implements Disks. Close removes the folder.
func (l *Local) DataDir(_ context.Context, id int) (string, error) {
	return filepath.Join(l.servers[id-1].dir, "data"), nil
}

// Dir returns the directory of the logs.
func (l *Local) Dir() string { return l.config.Dir }

// Close kills the servers, waits for their end, closes the peer links, and
// removes the data. The logs stay, unless LocalConfig.Dir was empty.
func (l *Local) Close() error {
	l.once.Do(func() {
		l.cancel(ErrClosed)
		for _, s := range l.servers {
			s.close()
		}
		l.spawner.Close()
		var errs []error
		for _, pair := range l.peers {
			for _, link := range pair {
				errs = append(errs, link.Close())
			}
		}
		for _, s := range l.servers {
			for _, r := range []*links.Relay{s.relay, s.socks} {
				if r != nil {
					errs = append(errs, r.Close())
				}
			}
			errs = append(errs, os.RemoveAll(s.dir))
		}
		if l.ownsDir {
			errs = append(errs, os.RemoveAll(l.config.Dir))
		}
		l.closed = errors.Join(errs...)
	})
	return l.closed
}
