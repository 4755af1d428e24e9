package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/remote"
)

// curatorElections are candidates of Curator's LeaderLatch, in one worker process of
// workload/examples/curator.
type curatorElections struct {
	worker   *remote.Workers
	presence string
}

// newCuratorElections skips the benchmark where Curator or a JDK is missing.
func newCuratorElections(b *testing.B, ctx context.Context) electionsOf {
	b.Helper()
	if _, err := ensemble.FindCurator(); err != nil {
		b.Skip(err)
	}
	command, err := filepath.Abs("../workload/examples/curator/curator_worker")
	if err != nil {
		b.Fatal(err)
	}
	c := curatorElections{presence: fmt.Sprintf("/bench-presence-%d", nextID.Add(1))}
	_, err = benchClient(b, ctx, addrsOf(b)).Conn().Create(c.presence, nil, 0, zk.WorldACL(zk.PermAll))
	if err != nil {
		b.Fatal(err)
	}
	c.worker, err = remote.Start(ctx, remote.Config{N: 1, Command: []string{command, "latch"}, Logs: b.TempDir()}, func(err error) { b.Error(err) })
	b.Cleanup(func() { _ = c.worker.End() })
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func (c curatorElections) open(b *testing.B, ctx context.Context, addrs []string) electionClient {
	b.Helper()
	ids := map[string]int{}
	for i, addr := range addrs {
		ids[addr] = i + 1
	}
	client, err := c.worker.Open(ctx, 0, remote.Opening{
		Env: lock.Env{Servers: addrs, SessionTimeout: timeout, TickTime: tick, Root: ""}, IDs: ids, Presence: c.presence,
		Announced: func(_, _ int64) {}, Died: func(*remote.Client) {},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(client.Crash)
	return curatorElectionClient{client}
}

type curatorElectionClient struct{ client *remote.Client }

func (c curatorElectionClient) lead(ctx context.Context, path string) (resign func(context.Context) error, err error) {
	term, err := c.client.Election().Acquire(ctx, path[1:])
	if err != nil {
		return nil, err
	}
	return term.Release, nil
}

func (c curatorElectionClient) sessionTimeout() time.Duration { return c.client.SessionTimeout() }

// electionsOf opens the clients of one implementation, each with a session of its own.
type electionsOf interface {
	open(b *testing.B, ctx context.Context, addrs []string) electionClient
}

type electionClient interface {
	// lead returns when the candidate leads, at the path.
	lead(ctx context.Context, path string) (resign func(context.Context) error, err error)
	sessionTimeout() time.Duration
}

type ourElections struct{}

func (ourElections) open(b *testing.B, ctx context.Context, addrs []string) electionClient {
	return ourElectionClient{benchClient(b, ctx, addrs)}
}

type ourElectionClient struct{ client *recipes.Client }

func (c ourElectionClient) lead(ctx context.Context, path string) (func(context.Context) error, error) {
	term, err := recipes.NewElection(c.client, path).Campaign(ctx)
	if err != nil {
		return nil, err
	}
	return term.Release, nil
}

func (c ourElectionClient) sessionTimeout() time.Duration { return c.client.SessionTimeout() }

// queuesUp starts a campaign, and returns when its candidate is the second of the queue,
// which conn lists.
func queuesUp(b *testing.B, ctx context.Context, c electionClient, conn *zk.Conn, path string) <-chan time.Time {
	elected := make(chan time.Time, 1)
	go func() { // ends with the campaign
		resign, err := c.lead(ctx, path)
		at := time.Now()
		if err == nil {
			err = resign(ctx)
		}
		if err != nil {
			b.Error(err)
		}
		elected <- at
	}()
	for {
		all, _, err := conn.Children(path)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			b.Fatal(err)
		}
		if len(all) == 2 {
			time.Sleep(20 * time.Millisecond) // if it does not watch by then, the figure is the worse for it
			return elected
		}
	}
}
