package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
)

// servers are the three servers of a run, and a session to create the nodes of each work.
type servers struct {
	local  *ensemble.Local
	addrs  []string // a follower's first: most clients of an ensemble are connected to one
	conn   *zk.Conn
	relays *relays
	slow   *slowLinks // nil before the first case that needs them
	runs   int
}

func startServers(ctx context.Context) (_ *servers, err error) {
	s := &servers{}
	if s.local, err = ensemble.StartLocal(ctx, ensemble.LocalConfig{FullJIT: true}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	leader, err := s.local.Leader(ctx)
	if err != nil {
		return nil, err
	}
	list := s.local.Servers()
	for i := range list {
		s.addrs = append(s.addrs, list[(leader+i)%len(list)].Addr) // IDs begin at 1: this is the server after the leader
	}
	if s.relays, err = newRelays(s.addrs); err != nil {
		return nil, err
	}
	s.conn, err = connectZK(ctx, s.addrs[0])
	return s, err
}

func (s *servers) close() error {
	if s.conn != nil {
		s.conn.Close()
	}
	var err error
	if s.slow != nil {
		err = s.slow.close()
	}
	if s.relays != nil {
		err = errors.Join(err, s.relays.close())
	}
	return errors.Join(err, s.local.Close())
}

// warmUp lets the servers' compilers see the work in advance.
func (s *servers) warmUp(ctx context.Context, rounds int) error {
	f := newFloor()
	defer f.close()
	for range rounds {
		for _, addr := range s.addrs {
			w := work{kind: mutex, servers: []string{addr}, sessions: 1, contenders: 200, cycles: 5}
			if err := s.at(w, func(w work) error { _, err := f.run(ctx, w); return err }); err != nil {
				return fmt.Errorf("warm up: %w", err)
			}
		}
	}
	return nil
}

// at creates the nodes that a work needs and runs do with it. A work that names no servers
// uses all of them. The nodes stay: the servers end with the run.
func (s *servers) at(w work, do func(w work) error) error {
	if len(w.servers) == 0 {
		w.servers = s.addrs
	}
	s.runs++
	w.path = fmt.Sprintf("/bench-%d", s.runs)
	nodes := []string{w.path}
	if w.kind == semaphore {
		nodes = append(nodes, w.path+"/locks", w.path+"/leases")
	}
	// No containers: the servers remove those when they are empty for a moment.
	for _, node := range nodes {
		if _, err := s.conn.Create(node, nil, 0, openACL); err != nil {
			return fmt.Errorf("create %s: %w", node, err)
		}
	}
	return do(w)
}

// watches counts the watches on all servers.
func (s *servers) watches(ctx context.Context) (int, error) {
	total := 0
	for _, addr := range s.addrs {
		answer, err := ensemble.Four(ctx, ensemble.Server{Addr: addr}, "wchs")
		if err != nil {
			return 0, err
		}
		n, err := parseWatches(answer)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// parseWatches reads the answer to "wchs", which ends with "Total watches:12".
func parseWatches(answer string) (int, error) {
	_, number, found := strings.Cut(answer, "Total watches:")
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if !found || err != nil {
		return 0, fmt.Errorf("wchs answered %q", answer)
	}
	return n, nil
}
