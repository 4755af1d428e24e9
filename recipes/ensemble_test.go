package recipes_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

const (
	tick    = 200 * time.Millisecond
	timeout = 2 * time.Second
	patient = 30 * time.Second // expected events come far earlier
)

// The tests of this package share servers; each has locks and clients of its own. Tests
// that harm a server are not parallel, unless they have servers of their own. The servers
// delete no empty containers: that would be one more request of a client, or a create that
// fails, at an instant that no test chooses. See reaped.
var (
	pool    = &ensembletest.Pool{Config: ensemble.LocalConfig{TickTime: tick, ContainerInterval: 24 * time.Hour}}
	network links.Network
	nextID  atomic.Int64
	skipped sync.Map // names of tests
)

func TestMain(m *testing.M) {
	if path := os.Getenv(pausedHolder); path != "" {
		if err := holdAndBePaused(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	os.Exit(func() int {
		if testing.Short() {
			return withoutServers(m)
		}
		var err error
		if network, err = links.InProcess(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer network.Close()
		pool.Config.Peers = network
		defer pool.Close()
		return m.Run()
	}())
}

// withoutServers runs the tests that need no server, and prints the number of skipped tests. The
// examples all need a server.
func withoutServers(m *testing.M) int {
	if err := flag.Set("test.skip", "^Example"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	n := 0
	skipped.Range(func(any, any) bool { n++; return true })
	fmt.Printf("SKIP: %d tests, and all examples, need servers: -short\n", n)
	return code
}

// needServers skips a test when there are no servers.
func needServers(t testing.TB) {
	t.Helper()
	if testing.Short() {
		test, _, _ := strings.Cut(t.Name(), "/")
		skipped.Store(test, true)
		t.Skip("needs servers")
	}
}

// needReal makes a test run on real servers. why is the reason.
func needReal(t testing.TB, why string) {
	t.Helper()
	needServers(t)
	ensembletest.Real(t, why)
}

// apart makes a test run on servers of its own, in parallel with other such tests, if the servers
// are simulated.
func apart(t *testing.T) {
	t.Helper()
	needServers(t)
	pool.Apart(t)
}

// reaped makes a test run on servers of its own that delete empty containers within a second.
func reaped(t *testing.T) {
	t.Helper()
	needServers(t)
	pool.With(t, ensemble.LocalConfig{TickTime: tick, ContainerInterval: 250 * time.Millisecond})
}

// inTurn makes a test run on the shared servers, one test after the other.
func inTurn(t *testing.T) {
	t.Helper()
	needServers(t)
}

// serversOf returns the servers of a test.
func serversOf(t testing.TB) ensembletest.Servers {
	t.Helper()
	needServers(t)
	return pool.Of(t)
}

// uniquePath returns the path of a lock that no other test uses.
func uniquePath(t *testing.T) string {
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == ' ' {
			return '-'
		}
		return r
	}, t.Name())
	return fmt.Sprintf("/%s-%d/lock", name, nextID.Add(1))
}

// addrsOf returns the addresses of a test's servers, or none when there are no servers.
func addrsOf(t testing.TB) (addrs []string) {
	t.Helper()
	if testing.Short() {
		return nil
	}
	for _, s := range pool.Of(t).Servers() {
		addrs = append(addrs, s.Addr)
	}
	return addrs
}

// addrs returns the addresses of the examples' servers.
func addrs() (addrs []string) {
	servers, err := pool.ForExamples()
	if err != nil {
		panic(err)
	}
	for _, s := range servers.Servers() {
		addrs = append(addrs, s.Addr)
	}
	return addrs
}

// linked returns addresses that reach the servers through links of their own.
func linked(t *testing.T) ([]string, []links.Link) {
	t.Helper()
	needServers(t)
	var a []string
	var ls []links.Link
	for _, s := range serversOf(t).Servers() {
		l, err := network.Link(t.Context(), fmt.Sprintf("%s-%d-%d", t.Name(), nextID.Add(1), s.ID), s.Addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		a, ls = append(a, l.Addr()), append(ls, l)
	}
	return a, ls
}

func cutAll(t *testing.T, ls []links.Link, cut links.Cut) {
	t.Helper()
	for _, l := range ls {
		if err := l.Cut(t.Context(), cut); err != nil {
			t.Fatal(err)
		}
	}
}

func healAll(t *testing.T, ls []links.Link) {
	t.Helper()
	for _, l := range ls {
		if err := l.Heal(context.Background()); err != nil { // also in a cleanup
			t.Fatal(err)
		}
	}
}

// connect returns a client that the test closes, and fails the test when the
// client leaves a goroutine behind.
func connect(t *testing.T, addrs []string, options ...recipes.Option) *recipes.Client {
	t.Helper()
	if len(addrs) == 0 {
		needServers(t)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	options = append([]recipes.Option{recipes.WithSessionTimeout(timeout), recipes.WithServerTick(tick)}, options...)
	c, err := recipes.Connect(ctx, addrs, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patient)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Errorf("closing the client: %v", err)
		}
	})
	return c
}

// leavesNoGoroutine fails the test when goroutines of the recipes or of go-zookeeper remain at
// its end. It is for tests that run alone. A connection that no server has answered takes a
// second to close, and Connect does not wait for it.
func leavesNoGoroutine(t *testing.T) {
	t.Helper()
	addrsOf(t) // the servers are shared, and stay
	allowed := append(connections(), goleak.IgnoreCurrent())
	t.Cleanup(func() {
		for deadline := time.Now().Add(5 * time.Second); goleak.Find(allowed...) != nil && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond)
		}
		goleak.VerifyNone(t, allowed...)
	})
}

// connections makes goleak ignore the goroutines that serve connections. Those of the servers,
// and of clients that stay open, come and go on a busy machine. A session or a request that
// remains shows in its other goroutines.
func connections() []goleak.Option {
	var options []goleak.Option
	for _, function := range []string{
		"github.com/go-zookeeper/zk.(*Conn).sendLoop", "github.com/go-zookeeper/zk.(*Conn).recvLoop",
		"github.com/Shopify/toxiproxy/v2.(*ToxicLink).read", "github.com/Shopify/toxiproxy/v2.(*ToxicLink).write",
		"github.com/Shopify/toxiproxy/v2.(*Proxy).freeBlocker", "github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run",
		"github.com/zkverify/zkverify/ensemble.(*relay).accept.func1", "github.com/zkverify/zkverify/ensemble.(*relay).carry",
		"github.com/zkverify/zkverify/ensemble.(*relay).carry.func1", "github.com/zkverify/zkverify/ensemble.(*relay).carry.func2",
	} {
		options = append(options, goleak.IgnoreAnyFunction(function))
	}
	return options
}

// awaitQuorum waits until all servers serve.
func awaitQuorum(t *testing.T) {
	t.Helper()
	needServers(t)
	eventually(t, "all servers serve", func() bool {
		for _, a := range addrsOf(t) {
			text, err := ensemble.Four(context.Background(), ensemble.Server{Addr: a}, "srvr")
			if err != nil || !strings.Contains(text, "Mode: ") {
				return false
			}
		}
		return true
	})
}

// eventually waits until ok, and fails the test when it never is.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patient); ; time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// within returns a context for a step that must succeed.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	t.Cleanup(cancel)
	return ctx
}

func acquire(t *testing.T, ctx context.Context, m *recipes.Mutex) *recipes.Lease {
	t.Helper()
	l, err := m.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func release(t *testing.T, l *recipes.Lease) {
	t.Helper()
	if err := l.Release(within(t)); err != nil {
		t.Fatal(err)
	}
}

// acquiring starts an acquire and returns the channel of its result.
func acquiring(ctx context.Context, m *recipes.Mutex) <-chan result {
	done := make(chan result, 1)
	go func() {
		l, err := m.Acquire(ctx)
		done <- result{l, err}
	}()
	return done
}

type result struct {
	lease *recipes.Lease
	err   error
}

// ok returns the lease of the acquire, and fails the test if there is none.
func (r result) ok(t *testing.T) *recipes.Lease {
	t.Helper()
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r.lease
}

// expire ends the session that a client has now, by force.
func expire(t *testing.T, i *intercept) {
	t.Helper()
	id, password := i.credentials()
	ctx := within(t)
	for {
		err := ensemble.Expire(ctx, serversOf(t).Servers()[0], id, password, timeout)
		if err == nil || errors.Is(err, ensemble.ErrNoSession) {
			return
		}
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			t.Fatal(err)
		} // the client and Expire take the session from each other repeatedly
	}
}
