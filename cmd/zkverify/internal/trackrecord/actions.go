package trackrecord

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/ensemble/txnlog"
	"github.com/zkverify/zkverify/internal/wait"
)

// action is the implementation of a kind of step.
type action struct {
	do func(context.Context, *scene, Step) error
	// The fields of a step that the action takes.
	server, from, n, text bool
}

// actions returns all actions, by the names that Step.Do has.
func actions() map[string]action {
	return map[string]action{
		"kill":    {do: kill, server: true},
		"start":   {do: start, server: true},
		"serve":   {do: serve, server: true},
		"write":   {do: write, server: true, n: true},
		"connect": {do: connect, server: true},
		"pause":   {do: pause, server: true},
		"propose": {do: propose, server: true, n: true},
		"load":    {do: loadServer, server: true, n: true},
		"rest":    {do: rest},
		"cut":     {do: cut, server: true, from: true},
		"heal":    {do: heal, server: true, from: true},
		"await":   {do: await, server: true, text: true},
	}
}

// patience is the time limit of a step.
const patience = 40 * time.Second

// kill kills a server.
func kill(ctx context.Context, s *scene, p Step) error { return s.servers.Kill(ctx, s.id(p.Server)) }

// pause stops a server's process, which kill would end.
func pause(ctx context.Context, s *scene, p Step) error {
	return s.servers.Pause(ctx, s.id(p.Server))
}

// start starts a server. It does not wait until the server serves, which takes a quorum.
func start(ctx context.Context, s *scene, p Step) error {
	// Restart returns when the server serves, or when its context ends. The process goes on then.
	short, cancel := context.WithTimeoutCause(ctx, time.Millisecond, errStarted)
	defer cancel()
	if err := s.servers.Restart(short, s.id(p.Server)); err != nil && !errors.Is(err, errStarted) {
		return err
	}
	return nil
}

// errStarted is the cause that ends start's wait for the server.
var errStarted = errors.New("it was started")

// serve waits until a server takes part in a quorum.
func serve(ctx context.Context, s *scene, p Step) error {
	server := s.server(p.Server)
	return until(ctx, func() (bool, error) {
		if !s.servers.Running(server.ID) {
			return false, fmt.Errorf("server %d has ended", server.ID)
		}
		status, _, err := ensemble.AskStatus(ctx, server)
		return err == nil && status.Serving(), nil
	})
}

// write creates nodes, one after another, through a server.
func write(ctx context.Context, s *scene, p Step) error {
	return until(ctx, func() (bool, error) {
		conn, err := dial(ctx, s.server(p.Server))
		if err != nil {
			return false, nil // the server may have lost its quorum again
		}
		defer conn.Close()
		for range p.N {
			if _, err := conn.Create(root+"/n-", nil, zk.FlagSequence, zk.WorldACL(zk.PermAll)); err != nil {
				return false, nil
			}
		}
		return true, nil
	})
}

// connect begins the session that propose uses.
func connect(ctx context.Context, s *scene, p Step) (err error) {
	s.session, err = dial(ctx, s.server(p.Server))
	return err
}

// propose makes the session of connect request n ephemeral nodes from a leader without a quorum,
// which logs the requests and cannot commit them.
func propose(ctx context.Context, s *scene, p Step) error {
	before, err := s.logged(ctx, p.Server)
	if err != nil {
		return err
	}
	for range p.N {
		s.waiting.Go(func() {
			_, _ = s.session.Create(root+"/p-", nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
		})
	}
	return until(ctx, func() (bool, error) {
		now, err := s.logged(ctx, p.Server)
		return now >= before+p.N, err
	})
}

// logged counts the transactions that a server has in its logs.
func (s *scene) logged(ctx context.Context, role string) (n int, err error) {
	folder, err := s.servers.DataDir(ctx, s.id(role))
	if err != nil {
		return 0, err
	}
	dir, err := txnlog.Open(folder)
	if err != nil {
		return 0, err
	}
	for _, err := range dir.Transactions() {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// cut cuts the connections over which one server follows another. Elections go on.
func cut(ctx context.Context, s *scene, p Step) error { return s.follows(p).Cut(ctx, links.Down) }

// heal undoes cut.
func heal(ctx context.Context, s *scene, p Step) error { return s.follows(p).Heal(ctx) }

// follows returns the link over which a server follows another: that of the quorum, not that of
// elections.
func (s *scene) follows(p Step) links.Link { return s.servers.Peer(s.id(p.From), s.id(p.Server))[0] }

// await waits until a server has printed a text since the step before this one began.
func await(ctx context.Context, s *scene, p Step) error {
	id := s.id(p.Server)
	return until(ctx, func() (bool, error) {
		output, err := s.servers.Output(ctx, id)
		return err == nil && bytes.Contains(output[s.printed[id]:], []byte(p.Text)), err
	})
}

// until calls done until it returns true or an error, or the step's time is over.
func until(ctx context.Context, done func() (bool, error)) (err error) {
	yes := false
	wait.Until(ctx, patience, func() bool {
		yes, err = done()
		return yes || err != nil
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil && !yes:
		return fmt.Errorf("it took more than %v", patience)
	}
	return err
}
