package interop_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/recipes"
)

const (
	tick    = 200 * time.Millisecond
	timeout = 2 * time.Second
	patient = 30 * time.Second // expected events come far earlier
)

// The tests share three servers and one Java process; each has paths and clients of its
// own. The servers are real, or simulated if ensembletest.Variable is set to that: then the tests
// show that Curator works on simulated servers, too.
var (
	servers cluster
	network links.Network
	java    *peer
	version string // of Curator
	missing error  // why the tests cannot run here
	nextID  atomic.Int64
)

// cluster is servers whose links to each other can be cut.
type cluster interface {
	ensemble.Ensemble
	ensemble.Processes
	ensemble.PeerLinks
}

func startServers(ctx context.Context, peers links.Network) (cluster, error) {
	config := ensemble.LocalConfig{TickTime: tick, Peers: peers}
	if os.Getenv(ensembletest.Variable) == "simulated" {
		return simulated.Start(ctx, config)
	}
	return ensemble.StartLocal(ctx, config)
}

// attempts bounds how often a run is made again.
const attempts = 3

// onOwnServers makes a run on servers of its own. Under faults between servers, ZooKeeper's may come
// to have different trees (ZOOKEEPER-4712, for one), for good: such a run shows nothing about locks, and
// is made again. Simulated servers must not.
func onOwnServers(t *testing.T, run func() *checker.Report) {
	t.Helper()
	needsCurator(t)
	shared := servers
	once := func() *checker.Report {
		peers, err := links.InProcess()
		must(t, err)
		defer peers.Close()
		own, err := startServers(t.Context(), peers)
		must(t, err)
		defer own.Close()
		servers = own
		defer func() { servers = shared }()
		return run()
	}
	for range attempts {
		report := once()
		if sound(report) {
			return
		}
		if os.Getenv(ensembletest.Variable) == "simulated" {
			t.Fatalf("simulated servers got different trees: %v %v", report.Diverged, report.Disagreements)
		}
		t.Logf("a server got another tree than the others, so the run is made again: %v %v", report.Diverged, report.Disagreements)
	}
	t.Skipf("servers got different trees in %d runs", attempts)
}

// sound reports whether the servers of a run had the same tree.
func sound(r *checker.Report) bool { return len(r.Diverged)+len(r.Disagreements) == 0 }

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		if testing.Short() {
			missing = errors.New("needs Java and real servers")
			return m.Run()
		}
		tools, err := ensemble.FindCurator()
		if err != nil {
			missing = err
			return m.Run()
		}
		version = tools.Version
		end, err := ensembletest.TakeTurn()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer end()
		dir, err := os.MkdirTemp("", "zkverify-interop-")
		if err == nil {
			defer os.RemoveAll(dir)
			err = buildPeer(tools, dir)
		}
		if err == nil {
			java, err = startPeer(tools, dir)
		}
		if err == nil {
			defer java.close()
			network, err = links.InProcess()
		}
		if err == nil {
			defer network.Close()
			servers, err = startServers(context.Background(), network)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer servers.Close()
		code := m.Run()
		if log := java.log.String(); code != 0 && log != "" {
			fmt.Fprintf(os.Stderr, "the peer's log:\n%s", log)
		}
		return code
	}())
}

// needsCurator skips the test where Curator or a JDK is missing. The helpers that tests begin
// with call it.
func needsCurator(t *testing.T) {
	t.Helper()
	if missing != nil {
		t.Skip(missing)
	}
}

// uniquePath returns a path that no other test uses.
func uniquePath(t *testing.T) string {
	t.Helper()
	needsCurator(t)
	return fmt.Sprintf("/%s-%d/lock", strings.NewReplacer("/", "-", " ", "-").Replace(t.Name()), nextID.Add(1))
}

// addrs returns the addresses of the servers, or none where the tests cannot run.
func addrs() []string {
	if servers == nil {
		return nil
	}
	var a []string
	for _, s := range servers.Servers() {
		a = append(a, s.Addr)
	}
	return a
}

// within returns a context for a step that must succeed.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits until ok, and fails the test when it never is.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patient); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// linked returns addresses that reach the servers through links of their own.
func linked(t *testing.T) ([]string, []links.Link) {
	t.Helper()
	needsCurator(t)
	var a []string
	var ls []links.Link
	for _, s := range servers.Servers() {
		l, err := network.Link(t.Context(), fmt.Sprintf("%s-%d-%d", t.Name(), nextID.Add(1), s.ID), s.Addr)
		must(t, err)
		t.Cleanup(func() { l.Close() })
		a, ls = append(a, l.Addr()), append(ls, l)
	}
	return a, ls
}

func cut(t *testing.T, ls []links.Link) {
	t.Helper()
	for _, l := range ls {
		must(t, l.Cut(t.Context(), links.BlackHole))
	}
}

func heal(t *testing.T, ls []links.Link) {
	t.Helper()
	for _, l := range ls {
		must(t, l.Heal(t.Context()))
	}
}

// received waits for a value.
func received[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-within(t).Done():
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// goClient returns a client of recipes.
func goClient(t *testing.T) *recipes.Client {
	t.Helper()
	return goClientAt(t, addrs())
}

func goClientAt(t *testing.T, addrs []string) *recipes.Client {
	t.Helper()
	needsCurator(t)
	c, err := recipes.Connect(within(t), addrs, recipes.WithSessionTimeout(timeout), recipes.WithServerTick(tick))
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patient)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return c
}

// anyLock is any lock of package recipes.
type anyLock interface {
	Acquire(context.Context) (*recipes.Lease, error)
	TryAcquire(context.Context) (*recipes.Lease, error)
}

func acquire(t *testing.T, l anyLock) *recipes.Lease {
	t.Helper()
	lease, err := l.Acquire(within(t))
	must(t, err)
	return lease
}

// as is within, for the owner of a lease.
func as(t *testing.T, l *recipes.Lease) context.Context {
	ctx, cancel := context.WithTimeout(l.Context(), patient)
	t.Cleanup(cancel)
	return ctx
}

func release(t *testing.T, l *recipes.Lease) {
	t.Helper()
	must(t, l.Release(within(t)))
}

// notFree checks that package recipes cannot acquire a lock.
func notFree(t *testing.T, l anyLock) {
	t.Helper()
	if lease, err := l.TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Fatalf("got lease %v and error %v of a lock that is not free", lease, err)
	}
}

// pending is an acquire of package recipes under way.
type pending struct {
	t    *testing.T
	done chan struct{}

	lease *recipes.Lease
	err   error
}

func acquiring(t *testing.T, l anyLock) *pending {
	t.Helper()
	p := &pending{t: t, done: make(chan struct{})}
	ctx := within(t)
	// Ends with the acquire, at the latest with the test.
	go func() {
		defer close(p.done)
		p.lease, p.err = l.Acquire(ctx)
	}()
	return p
}

// waits checks that it has not been granted yet.
func (p *pending) waits() {
	p.t.Helper()
	select {
	case <-p.done:
		p.t.Fatalf("answered too early: %v, %v", p.lease, p.err)
	default:
	}
}

// got waits until it is granted.
func (p *pending) got() *recipes.Lease {
	p.t.Helper()
	<-p.done
	must(p.t, p.err)
	return p.lease
}

// admin is a connection that lists nodes.
func admin(t *testing.T) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect(addrs(), 10*time.Second, zk.WithLogInfo(false), zk.WithLogger(quiet{}))
	must(t, err)
	t.Cleanup(func() {
		conn.Close()
		for range events {
		}
	})
	return conn
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// children lists the children of path.
func children(t *testing.T, conn *zk.Conn, path string) []string {
	t.Helper()
	_, err := conn.Sync(path)
	must(t, err)
	names, _, err := conn.Children(path)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		t.Fatal(err)
	}
	return names
}

// queued waits until n contenders stand in a queue: then the acquire that was started last has
// its place.
func queued(t *testing.T, conn *zk.Conn, path string, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d nodes in %s", n, path), func() bool { return len(children(t, conn, path)) == n })
}
