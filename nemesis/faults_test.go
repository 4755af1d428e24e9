package nemesis

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
)

// real is a world of one client on real servers: a session through links of
// its own, with an ephemeral node, and an observer that looks at that node
// directly.
type real struct {
	ensemble *ensemble.Local
	timeout  time.Duration
	client   Client
	conn     *zk.Conn
	direct   *zk.Conn
	node     string

	mu       sync.Mutex
	password []byte
}

func (r *real) Ensemble() ensemble.Ensemble   { return r.ensemble }
func (r *real) SessionTimeout() time.Duration { return r.timeout }
func (r *real) Clients() []Client             { return []Client{r.client} }

// passwordTap reads the password out of the first reply of a connection.
type passwordTap struct {
	net.Conn
	r    *real
	seen []byte
}

func (p *passwordTap) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	if p.seen = append(p.seen, b[:n]...); len(p.seen) >= 40 && len(p.seen) < 4096 {
		p.r.mu.Lock()
		if p.r.password == nil && binary.BigEndian.Uint64(p.seen[12:]) != 0 {
			p.r.password = append([]byte(nil), p.seen[24:40]...)
		}
		p.r.mu.Unlock()
	}
	return n, err
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// connect returns a connection with a session, closed with the test.
func connect(t *testing.T, servers []string, timeout time.Duration, dial zk.Dialer) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect(servers, timeout, zk.WithDialer(dial), zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	session, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		once := sync.OnceFunc(func() { close(session) })
		for e := range events {
			if e.State == zk.StateHasSession {
				once()
			}
		}
	}()
	t.Cleanup(func() { conn.Close(); <-over })
	select {
	case <-session:
	case <-time.After(20 * time.Second):
		t.Fatal("no session")
	}
	return conn
}

// newReal connects a client to one server, by a link of its own.
func newReal(t *testing.T, e *ensemble.Local, n links.Network, server int) *real {
	t.Helper()
	r := &real{ensemble: e, timeout: 2 * time.Second}
	addr := e.Servers()[server-1].Addr
	link, err := n.Link(t.Context(), t.Name(), addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = link.Close() })
	r.conn = connect(t, []string{link.Addr()}, r.timeout, func(network, addr string, timeout time.Duration) (net.Conn, error) {
		c, err := net.DialTimeout(network, addr, timeout)
		if err != nil {
			return nil, err
		}
		return &passwordTap{Conn: c, r: r}, nil
	})
	var all []string
	for _, s := range e.Servers() {
		all = append(all, s.Addr)
	}
	r.direct = connect(t, all, 20*time.Second, net.DialTimeout)
	r.node, err = r.conn.Create("/presence-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.client = Client{
		Links: map[int]links.Link{server: link}, Linked: server, Holds: true,
		Session: r.conn.SessionID(), Password: r.password,
	}
	return r
}

// begin puts a fault of the named kind in force, healed with the test.
func (r *real) begin(t *testing.T, name string) (Fault, time.Time) {
	t.Helper()
	kind, err := kindNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	leader, err := r.ensemble.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f, err := kind.Make(Scene{
		World: r, Free: r.Clients(), Everyone: r.Clients(), Leader: leader, Rand: rand.New(rand.NewPCG(1, 1)), aim: AtHolder,
	})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if f.Stop != nil {
		t.Cleanup(func() {
			if err := within(context.Background(), f.HealWithin, f.Stop); err != nil {
				t.Error(err)
			}
		})
	}
	if err := within(t.Context(), f.HealWithin, f.Start); err != nil {
		t.Fatal(err)
	}
	return f, start
}

// gone waits until the session's node is gone, and returns when.
func (r *real) gone(t *testing.T, limit time.Duration) time.Time {
	t.Helper()
	until := time.Now().Add(limit)
	for time.Now().Before(until) {
		there, _, gone, err := r.direct.ExistsW(r.node)
		if err == nil && !there {
			return time.Now()
		}
		select {
		case <-gone:
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Fatalf("the session has not ended within %v", limit)
	return time.Time{}
}

// answers asks through the client's link, for at most so long.
func (r *real) answers(within time.Duration) bool {
	done := make(chan error, 1)
	go func() { // ends with the connection at the latest
		_, _, err := r.conn.Exists(r.node)
		done <- err
	}()
	select {
	case err := <-done:
		return err == nil
	case <-time.After(within):
		return false
	}
}

func TestFaultsOnRealServers(t *testing.T) {
	if testing.Short() {
		t.Skip("needs real servers")
	}
	network, err := links.InProcess()
	if err != nil {
		t.Fatal(err)
	}
	defer network.Close()
	e, err := ensemble.StartLocal(t.Context(), ensemble.LocalConfig{Peers: network})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	follower := func(t *testing.T) int {
		t.Helper()
		leader, err := e.Leader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return leader%3 + 1
	}

	for _, name := range []string{"down", "black-hole", "requests-lost", "replies-lost"} {
		t.Run(name+" keeps a client from its server", func(t *testing.T) {
			r := newReal(t, e, network, 1)
			if !r.answers(time.Second) {
				t.Fatal("no answer before the fault")
			}
			r.begin(t, name)
			if r.answers(300 * time.Millisecond) {
				t.Error("the server still answers")
			}
		})
	}
	t.Run("replies-lost lets requests be carried out", func(t *testing.T) {
		r := newReal(t, e, network, 1)
		r.begin(t, "replies-lost")
		go r.conn.Delete(r.node, -1) //nolint:errcheck // its outcome is unknown, that is the point
		r.gone(t, time.Second)
	})
	t.Run("latency slows a client down", func(t *testing.T) {
		r := newReal(t, e, network, 1)
		f, _ := r.begin(t, "latency")
		latency, err := time.ParseDuration(f.Params["latency"])
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if !r.answers(2*time.Second) || time.Since(start) < latency {
			t.Errorf("answered in %v; want later than %v", time.Since(start), latency)
		}
	})
	t.Run("expire-silence ends the session after its timeout", func(t *testing.T) {
		r := newReal(t, e, network, 1)
		_, start := r.begin(t, "expire-silence")
		// A ping may have been sent a third of the timeout before.
		if took := r.gone(t, 3*r.timeout).Sub(start); took < r.timeout*2/3-300*time.Millisecond || took > r.timeout*4/3 {
			t.Errorf("the session ended after %v; want about %v", took, r.timeout)
		}
	})
	t.Run("expire-session ends the session at once", func(t *testing.T) {
		r := newReal(t, e, network, 1)
		_, start := r.begin(t, "expire-session")
		if took := r.gone(t, r.timeout).Sub(start); took > r.timeout/2 {
			t.Errorf("the session ended after %v", took)
		}
	})
	t.Run("isolate-holder-follower ends the session of a client that keeps its server", func(t *testing.T) {
		server := follower(t)
		r := newReal(t, e, network, server)
		f, _ := r.begin(t, "isolate-holder-follower")
		if want := fmt.Sprintf("server %d", server); f.Targets[0] != want || f.Servers[0] != server {
			t.Fatalf("it hits %v; want %s", f.Targets, want)
		}
		if !r.answers(300 * time.Millisecond) {
			t.Error("the follower has stopped to answer at once")
		}
		r.gone(t, 3*r.timeout)
	})
	t.Run("isolate-holder-follower takes who waits where nobody holds", func(t *testing.T) {
		r := newReal(t, e, network, follower(t))
		r.client.Holds, r.client.Waits = false, true
		leader, err := e.Leader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		scene := Scene{World: r, Free: r.Clients(), Everyone: r.Clients(), Leader: leader, Rand: rand.New(rand.NewPCG(1, 1)), aim: AtHolder, exact: true}
		if f, err := makeFollower(scene); !errors.Is(err, ErrNobody) {
			t.Errorf("aimed at a holder, it hits %v, error %v", f.Targets, err)
		}
		scene.aim = AtWaiter
		if f, err := makeFollower(scene); err != nil || !slices.Contains(f.Targets, "client 0") {
			t.Errorf("it hits %v, error %v", f.Targets, err)
		}
	})
	t.Run("isolate-leader makes another server lead", func(t *testing.T) {
		old, err := e.Leader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r := newReal(t, e, network, follower(t))
		r.begin(t, "isolate-leader")
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		for {
			if now, err := e.Leader(ctx); err == nil && now != old {
				break
			}
			if !sleep(ctx, 50*time.Millisecond) {
				t.Fatal("no other leader")
			}
		}
	})
}
