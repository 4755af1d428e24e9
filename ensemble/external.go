package ensemble

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// base is the node under which runs keep their nodes, below the chroot. ours is its data
// when a run has created it: the last run removes it then. A base that existed before
// stays, with the rights that it gives.
const (
	base = "/zkverify"
	ours = "made by a run of zkverify; the last run removes it"
)

// externalLimit bounds the creation and the removal of a run's nodes.
const externalLimit = 30 * time.Second

// probeLimit is the time that a server has to answer a four-letter command, before the
// probe tries a session: the command may be dropped on the way.
const probeLimit = 2 * time.Second

// authDemanded is the text of go-zookeeper's error for a code that it does not know,
// which servers with enforce.auth.enabled or sessionRequireClientSASLAuth answer.
const authDemanded = "unknown error: -124"

// Ext is an ensemble of servers that run already. It implements Ensemble, and has no
// faults of its own: its processes and its peers' links are out of reach.
type Ext struct {
	servers []Server
	auth    Credentials
	chroot  string // "" for none
	base    string // of all runs
	root    string
	version string
	tick    time.Duration

	once   sync.Once
	closed error
}

var _ Ensemble = (*Ext)(nil)

// External returns the ensemble of the servers at the given addresses, each
// host:port or host alone for port 2181. Their IDs are their places in the list. The
// last address may end in a chroot, as in ZooKeeper's connect string: a node that
// exists, below which the run has all of its nodes. All of the servers must serve;
// ErrUnreachable names those that do not.
//
// External creates /zkverify/<runID>, below the chroot, which Close removes with all
// nodes below it. It returns ErrRootExists when that node exists already. runID is one
// element of a path. The node belongs to the given credentials; External returns
// ErrNotAllowed when they may not create it, and zk.ErrAuthFailed when the servers
// refuse them.
//
// Servers that do not allow the four-letter commands are probed with a session;
// their version, tick and leader are then not known.
func External(ctx context.Context, servers []string, runID string, auth Credentials) (*Ext, error) {
	if runID == "" || strings.Contains(runID, "/") || runID == "." || runID == ".." {
		return nil, fmt.Errorf("external ensemble: run id %q is not one element of a path", runID)
	}
	if len(servers) == 0 {
		return nil, errors.New("external ensemble: no servers given")
	}
	ctx, cancel := context.WithTimeout(ctx, externalLimit)
	defer cancel()
	e := &Ext{auth: auth}
	for i, addr := range servers {
		if i == len(servers)-1 {
			addr, e.chroot, _ = strings.Cut(addr, "/")
			e.chroot = strings.TrimSuffix("/"+e.chroot, "/")
		}
		if _, _, err := net.SplitHostPort(addr); err != nil {
			addr = net.JoinHostPort(strings.Trim(addr, "[]"), "2181")
		}
		e.servers = append(e.servers, Server{ID: i + 1, Addr: addr})
	}
	e.base = e.chroot + base
	e.root = path.Join(e.base, runID)
	if err := e.probe(ctx); err != nil {
		return nil, fmt.Errorf("external ensemble: %w", err)
	}
	err := e.create(ctx)
	if errors.Is(err, zk.ErrNoNode) && e.chroot != "" {
		err = fmt.Errorf("the chroot %s does not exist: %w", e.chroot, err)
	}
	switch {
	case errors.Is(err, zk.ErrNoAuth):
		err = fmt.Errorf("%w: %w", ErrNotAllowed, err)
	case err != nil && strings.Contains(err.Error(), authDemanded):
		err = fmt.Errorf("%w: the servers demand an authentication that it does not have (SessionClosedRequireSaslAuth, -124)", ErrNotAllowed)
	}
	if err != nil {
		return nil, fmt.Errorf("external ensemble: create %s on %s: %w", e.root, strings.Join(e.addrs(), ", "), err)
	}
	return e, nil
}

// probe checks all servers at once.
func (e *Ext) probe(ctx context.Context) error {
	var asked sync.WaitGroup
	errs := make([]error, len(e.servers))
	states := make([]Status, len(e.servers))
	for i, server := range e.servers {
		asked.Go(func() {
			bounded, cancel := context.WithTimeout(ctx, probeLimit)
			status, allowed, err := AskStatus(bounded, server)
			cancel()
			switch {
			case errors.Is(err, ErrNotZooKeeper):
			case err == nil && allowed && !status.Serving():
				err = errors.New("it answers but does not serve")
			case err == nil && !allowed, err != nil && !isDialError(err):
				// The command may be forbidden in more than one way.
				var conn *zk.Conn
				if conn, err = connect(ctx, []string{server.Addr}, e.auth); err == nil {
					conn.Close()
				}
			}
			if err != nil {
				errs[i] = fmt.Errorf("server %s: %w (%w)", server.Addr, ErrUnreachable, err)
			}
			states[i] = status
		})
	}
	asked.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	e.version = states[0].Version
	if conf, err := Four(ctx, e.servers[0], "conf"); err == nil {
		e.tick = tickOf(conf)
	}
	return nil
}

func isDialError(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// tickOf returns the tick in the answer to "conf", 0 when it is missing.
func tickOf(conf string) time.Duration {
	for line := range strings.Lines(conf) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), "tickTime="); found {
			ms, _ := strconv.Atoi(value)
			return time.Duration(ms) * time.Millisecond
		}
	}
	return 0
}

func (e *Ext) addrs() []string {
	list := make([]string, len(e.servers))
	for i, server := range e.servers {
		list[i] = server.Addr
	}
	return list
}

func (e *Ext) create(ctx context.Context) error {
	conn, err := connect(ctx, e.addrs(), e.auth)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, conn.Close)()
	// A client that may create below the base need not be allowed to create the base.
	if there, _, err := conn.Exists(e.base); err != nil {
		return err
	} else if !there {
		// The runs of all users share it.
		if _, err := conn.Create(e.base, []byte(ours), 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	_, err = conn.Create(e.root, nil, 0, e.auth.ACL())
	if errors.Is(err, zk.ErrNodeExists) {
		return ErrRootExists
	}
	return err
}

// Kind returns "external".
func (e *Ext) Kind() string { return "external" }

// Servers lists the servers in the order given to External.
func (e *Ext) Servers() []Server { return append([]Server(nil), e.servers...) }

// Leader returns the ID of the current leader, within about a second, or
// ErrUnknownLeader.
func (e *Ext) Leader(ctx context.Context) (int, error) { return LeaderOf(ctx, e.servers) }

// Version returns the ZooKeeper version of the first server, "" when it does not report
// one.
func (e *Ext) Version() string { return e.version }

// TickTime returns the tick of the first server, 0 when it does not report one.
func (e *Ext) TickTime() time.Duration { return e.tick }

// Root returns /zkverify/<run id>, below the chroot.
func (e *Ext) Root() string { return e.root }

// Close removes Root with all nodes below it, and /zkverify when a run has created it and
// no other run uses it. It takes half a minute at most.
func (e *Ext) Close() error {
	e.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), externalLimit)
		defer cancel()
		conn, err := connect(ctx, e.addrs(), e.auth)
		if err == nil {
			defer conn.Close()
			defer context.AfterFunc(ctx, conn.Close)()
			err = removeAll(ctx, conn, e.root)
			err = errors.Join(err, removeBase(conn, e.base))
		}
		if err != nil {
			e.closed = fmt.Errorf("remove %s: %w", e.root, err)
		}
	})
	return e.closed
}

// removeBase removes the node of all runs, if a run has created it and this run is the
// last.
func removeBase(conn *zk.Conn, base string) error {
	text, _, err := conn.Get(base)
	if err == nil && string(text) == ours {
		err = conn.Delete(base, -1)
	}
	// Not empty: other runs use it. Gone: another run was the last. Not allowed to look: no run
	// has created it.
	if errors.Is(err, zk.ErrNotEmpty) || errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNoAuth) {
		return nil
	}
	return err
}

// removeAll removes a node with all nodes below it. Clients that are still ending may add
// nodes meanwhile, so it goes on until the node is gone or ctx ends.
func removeAll(ctx context.Context, conn *zk.Conn, node string) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		children, _, err := conn.Children(node)
		if errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, child := range children {
			if err := removeAll(ctx, conn, path.Join(node, child)); err != nil {
				return err
			}
		}
		err = conn.Delete(node, -1)
		if err == nil || errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		if !errors.Is(err, zk.ErrNotEmpty) {
			return err
		}
	}
}
