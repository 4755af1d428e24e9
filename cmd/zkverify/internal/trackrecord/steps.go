package trackrecord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
)

// root is the node below which a script writes.
const root = "/steps"

// sessionTimeout is the session timeout of a script's clients. It is so long that no session
// expires during a script.
const sessionTimeout = time.Minute

// handshake is the time limit for a client to begin a session.
const handshake = 5 * time.Second

// scene holds the servers and the clients of a script while it is carried out.
type scene struct {
	servers *ensemble.Local
	by      map[string]int // the servers' ids, by their roles
	printed map[int]int    // the bytes that each server had printed when the step before this one began
	session *zk.Conn       // of connect
	ends    []func()       // of the loads
	waiting sync.WaitGroup // for answers to propose
}

// carryOut carries out a script, and returns all findings about the servers at its end. It leaves
// the servers' logs in dir. The error is one of ensemble.StartLocal, that of a step that
// cannot be done, or that of ctx.
func carryOut(ctx context.Context, script Script, dir string) (_ []Finding, err error) {
	network, err := links.InProcess()
	if err != nil {
		return nil, err
	}
	servers, err := ensemble.StartLocal(ctx, ensemble.LocalConfig{Dir: dir, ZooKeeper: script.ZooKeeper, Peers: network})
	if err != nil {
		return nil, errors.Join(err, network.Close())
	}
	s := &scene{servers: servers}
	defer func() { err = errors.Join(err, s.close(), servers.Close(), network.Close()) }()
	if err := s.cast(ctx); err != nil {
		return nil, err
	}
	for i, step := range script.Steps {
		before, err := s.output(ctx)
		if err != nil {
			return nil, err
		}
		if err := actions()[step.Do].do(ctx, s, step); err != nil {
			return nil, fmt.Errorf("step %d, %s: %w", i+1, step, err)
		}
		s.printed = before
	}
	if err := rest(ctx, s, Step{}); err != nil {
		return nil, err
	}
	return s.find(ctx)
}

// cast assigns the roles of the script to the servers, and creates the root node.
func (s *scene) cast(ctx context.Context) error {
	id, err := s.servers.Leader(ctx)
	if err != nil {
		return err
	}
	s.by = map[string]int{leader: id}
	others := slices.DeleteFunc([]int{1, 2, 3}, func(other int) bool { return other == id })
	s.by[first], s.by[second] = others[0], others[1]
	conn, err := dial(ctx, s.server(leader))
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Create(root, nil, 0, zk.WorldACL(zk.PermAll))
	return err
}

func (s *scene) id(role string) int { return s.by[role] }

func (s *scene) server(role string) ensemble.Server { return s.servers.Servers()[s.id(role)-1] }

// output returns the number of bytes that each server has printed.
func (s *scene) output(ctx context.Context) (map[int]int, error) {
	printed := map[int]int{}
	for _, server := range s.servers.Servers() {
		text, err := s.servers.Output(ctx, server.ID)
		if err != nil {
			return nil, err
		}
		printed[server.ID] = len(text)
	}
	return printed, nil
}

// close ends the clients, and waits for their requests.
func (s *scene) close() error {
	err := rest(context.Background(), s, Step{})
	if s.session != nil {
		s.session.Close()
	}
	s.waiting.Wait()
	return err
}

// dial begins a session with one server.
func dial(ctx context.Context, server ensemble.Server) (*zk.Conn, error) {
	conn, events, err := zk.Connect([]string{server.Addr}, sessionTimeout, zk.WithLogger(silent{}))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, handshake, fmt.Errorf("server %d begins no session", server.ID))
	defer cancel()
	for {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return conn, nil
			}
		case <-ctx.Done():
			conn.Close()
			return nil, context.Cause(ctx)
		}
	}
}

// silent discards what go-zookeeper logs.
type silent struct{}

func (silent) Printf(string, ...any) {}
