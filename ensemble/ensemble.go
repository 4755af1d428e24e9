package ensemble

import (
	"context"
	"net"
	"time"

	"github.com/zkverify/zkverify/ensemble/failpoints"
	"github.com/zkverify/zkverify/ensemble/links"
)

// Server is one ZooKeeper server of an ensemble.
type Server struct {
	ID   int    // the server's myid, from 1
	Addr string // host:port of its real client port
	// Observer reports that the server has no vote: it never leads, and no quorum needs it.
	Observer bool
	// Dialer opens connections to Addr; nil means TCP.
	Dialer links.Dialer
}

// Dial opens a connection to the server. No link's fault affects it.
func (s Server) Dial(ctx context.Context) (net.Conn, error) {
	if s.Dialer != nil {
		return s.Dialer.DialContext(ctx, "tcp", s.Addr)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", s.Addr)
}

// Ensemble is a set of ZooKeeper servers that serve one tree.
type Ensemble interface {
	// Kind names the implementation: "local", "docker", "external" or
	// "simulated".
	Kind() string
	// Servers lists the servers by ascending ID.
	Servers() []Server
	// Leader returns the ID of the current leader.
	Leader(ctx context.Context) (int, error)
	// Version returns the ZooKeeper version that the servers report.
	Version() string
	// TickTime returns the servers' tick, 0 when it is not known.
	TickTime() time.Duration
	// Root returns the path under which a run keeps all its nodes, never "/".
	Root() string
	// Close ends the processes and connections that this value started, and removes the nodes
	// that it created. It may be called more than once.
	Close() error
}

// Processes is implemented by ensembles whose servers are processes that can
// be made to fail.
type Processes interface {
	// Kill ends the server's process with SIGKILL.
	Kill(ctx context.Context, id int) error
	// Pause stops the process with SIGSTOP: connections stay open, nothing is answered.
	Pause(ctx context.Context, id int) error
	// Resume lets a paused process go on, and does nothing to any other.
	Resume(ctx context.Context, id int) error
	// Restart starts the server again on the same data, and returns when it serves: never before
	// a majority of the servers runs.
	Restart(ctx context.Context, id int) error
	// Running reports whether the server's process is alive, even if paused.
	Running(id int) bool
	// Output returns the whole output of the server since its first start.
	Output(ctx context.Context, id int) ([]byte, error)
}

// Upgradable is implemented by ensembles whose servers can go on as another version of
// ZooKeeper, on the same data.
type Upgradable interface {
	// CanUpgrade reports whether there is another version to run. It may be called on a nil
	// value.
	CanUpgrade() bool
	// OtherVersion returns the name of the other version: its number if known, else its path.
	OtherVersion() string
	// Upgrade restarts a server as the other version, and Downgrade as that of Version. Both
	// return when the server serves, as Restart of Processes does. From then on Restart keeps
	// that version, even if the server did not serve.
	Upgrade(ctx context.Context, id int) error
	Downgrade(ctx context.Context, id int) error
	// Upgraded reports whether a server runs, or is to run, as the other version.
	Upgraded(id int) bool
}

// Reconfigurable is implemented by ensembles whose members can be changed while they serve.
type Reconfigurable interface {
	// CanReconfigure reports whether this ensemble's members can be changed. It may be called on
	// a nil value. Its servers reach each other directly: their PeerLinks are none.
	CanReconfigure() bool
	// Remove takes a server out of the ensemble, and Add makes it a member again. They return
	// when the servers have agreed on the change. The process of the server goes on.
	Remove(ctx context.Context, id int) error
	Add(ctx context.Context, id int) error
}

// Disks is implemented by ensembles whose servers' data can be read, see package txnlog,
// and whose servers use the wall clock of this machine.
type Disks interface {
	// DataDir returns a folder with a server's logs and snapshots: the server's own, or a copy.
	// It returns an error that matches errors.ErrUnsupported if they cannot be read here.
	DataDir(ctx context.Context, id int) (string, error)
}

// PeerLinks is implemented by ensembles whose servers reach each other through
// links that can be cut.
type PeerLinks interface {
	// Peer returns the links (quorum and election port) that carry the connections that server
	// from opened to server to. Both streams of a connection pass its link, so cutting two
	// servers apart takes Peer(a, b) and Peer(b, a).
	Peer(from, to int) []links.Link
}

// Clocks is implemented by ensembles whose servers may have clocks of their own: those
// that are simulated in virtual time, and local ones with Byteman.
type Clocks interface {
	// HasClocks reports whether this ensemble's servers have clocks of their own. On a nil value
	// it reports whether an ensemble of this type could have them.
	HasClocks() bool
	// SetClockRate sets the rate of a server's clock, as a multiple of the clients' rate: more
	// than 0; 1 is the clients' own. A server that is started again keeps it.
	SetClockRate(ctx context.Context, id int, rate float64) error
}

// WallClocks is implemented by ensembles whose servers' wall clocks can be set: those that are
// simulated in virtual time.
type WallClocks interface {
	// HasWallClocks is to wall clocks as Clocks.HasClocks to clocks.
	HasWallClocks() bool
	// StepClock sets a server's wall clock forward, or back if d is negative.
	StepClock(ctx context.Context, id int, d time.Duration) error
}

// Failpoints is implemented by ensembles whose servers can be made to fail at points of
// their own code.
type Failpoints interface {
	// HasFailpoints reports whether this ensemble has failpoints. On a nil value it reports
	// whether an ensemble of this type could have them.
	HasFailpoints() bool
	// Agent returns the agent that loads and removes the rules in a server's JVM. A restarted
	// server has no rules.
	Agent(id int) failpoints.Agent
}

// Pluggable is implemented by ensembles whose servers can be taken off their
// network: no peer and no client reaches them then.
type Pluggable interface {
	Unplug(ctx context.Context, id int) error
	// Plug connects a server to its network again, and returns when it can be reached. It does
	// nothing to a server that is not unplugged.
	Plug(ctx context.Context, id int) error
}
