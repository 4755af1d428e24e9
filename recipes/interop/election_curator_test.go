package interop_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/remote"
)

// latchTarget is Curator's LeaderLatch, used as its documentation says, in one worker
// process of workload/examples/curator.
type latchTarget struct {
	worker   *remote.Workers
	end      func()
	presence string // the folder of the nodes that the worker makes for each session

	mu    sync.Mutex
	stale map[histories.Token]bool // terms whose node was not of the leader's session
}

// startLatches starts the worker, which ends with the test.
func startLatches(t *testing.T) *latchTarget {
	t.Helper()
	needsCurator(t)
	command, err := filepath.Abs(filepath.Join("..", "..", "workload", "examples", "curator", "curator_worker"))
	must(t, err)
	target := &latchTarget{presence: fmt.Sprintf("/interop-presence-%d", nextID.Add(1)), stale: map[histories.Token]bool{{}: true}}
	// Its goroutines must be gone before those of the run are counted.
	client, err := recipes.Connect(within(t), addrs())
	must(t, err)
	_, err = client.Conn().Create(target.presence, nil, 0, zk.WorldACL(zk.PermAll))
	must(t, errors.Join(err, client.Close(within(t))))
	target.worker, err = remote.Start(within(t), remote.Config{N: 1, Command: []string{command, "latch", "--polite"}, Logs: t.TempDir()}, func(err error) { t.Error(err) })
	target.end = sync.OnceFunc(func() { must(t, target.worker.End()) })
	t.Cleanup(target.end)
	must(t, err)
	return target
}

func (*latchTarget) Name() string   { return "curator" }
func (*latchTarget) Recipe() string { return string(histories.Election) }
func (*latchTarget) Description() string {
	return "Curator's LeaderLatch, whose leaders give up when they are told notLeader"
}

// Promises: a LeaderLatch is documented to tell its leader of SUSPENDED and LOST. The
// latch's czxid is a token, although it is not a part of Curator's election.
func (*latchTarget) Promises(s lock.Settings) histories.Promises {
	return histories.Promises{Tokens: true, TellsLoss: true, LossBound: s.SessionTimeout}
}

// limit removes from our promises those that a LeaderLatch does not keep, or for which it has no
// method.
func (*latchTarget) limit(p histories.Promises) histories.Promises {
	p.FIFO, p.Guards, p.Says, p.Connects, p.TurnBound = false, false, false, 0, 0
	return p
}

func (l *latchTarget) Open(ctx context.Context, env lock.Env) (_ lock.Client, err error) {
	c := &latchClient{target: l}
	defer func() {
		if err != nil {
			c.closeRelays()
		}
	}()
	ids := map[string]int{}
	for i, s := range env.Servers {
		// As in curatorTarget, the worker dials through the harness.
		r, err := links.OpenRelay(func(ctx context.Context) (net.Conn, error) { return env.Dial(ctx, "tcp", s) })
		if err != nil {
			return nil, err
		}
		c.relays = append(c.relays, r)
		ids[r.Addr()] = i + 1
	}
	env.Servers = nil
	for _, r := range c.relays {
		env.Servers = append(env.Servers, r.Addr())
	}
	c.Client, err = l.worker.Open(ctx, 0, remote.Opening{
		Target: l.Name(), Env: env, IDs: ids, Presence: l.presence,
		Announced: func(_, _ int64) {}, Died: func(*remote.Client) {},
	})
	return c, err
}

// isStale reports whether a leader's term was of an older session of its client, or of no
// node at all.
func (l *latchTarget) isStale(term histories.Token) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stale[term]
}

// latchClient is a client in the worker.
type latchClient struct {
	*remote.Client
	target *latchTarget
	relays []*links.Relay
}

func (c *latchClient) Election() lock.Elector { return latchElector{c.Client.Election(), c} }

// Crash closes the client. The harness has closed its sockets already.
func (c *latchClient) Crash() {
	c.Client.Crash()
	c.closeRelays()
}

func (c *latchClient) Close(ctx context.Context) error {
	err := c.Client.Close(ctx)
	c.closeRelays()
	return err
}

func (c *latchClient) closeRelays() {
	for _, r := range c.relays {
		_ = r.Close() // it may be closed already
	}
}

// latchElector checks each term that Curator grants.
type latchElector struct {
	lock.Elector
	c *latchClient
}

func (e latchElector) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return e.look(e.Elector.Acquire(ctx, name))
}

func (e latchElector) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return e.look(e.Elector.TryAcquire(ctx, name))
}

func (e latchElector) look(term lock.Lease, err error) (lock.Lease, error) {
	if err != nil {
		return nil, err
	}
	session, _, _ := e.c.Credentials()
	if s, ok := term.(lock.Sessioned); ok && s.SessionID() != session {
		e.c.target.mu.Lock()
		e.c.target.stale[term.Token()] = true
		e.c.target.mu.Unlock()
	}
	return term, nil
}

// Reenter must fail.
func (latchElector) Reenter(context.Context, string, lock.Lease) (lock.Lease, error) {
	return nil, errors.New("a latch campaigns once")
}

var (
	_ lock.ElectionLocker = (*latchClient)(nil)
	_ limited             = (*latchTarget)(nil)
)

// sortOf returns the library of a process.
func sortOf(process int) string {
	return map[bool]string{true: "Curator's", false: "ours"}[isCurator(process%contenders)]
}
