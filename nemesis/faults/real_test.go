package faults

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories/states"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/nemesis/fault"

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
	client   fault.Client
	conn     *zk.Conn
	direct   *zk.Conn
	node     string

	mu       sync.Mutex
	password []byte
}

func (r *real) Ensemble() ensemble.Ensemble   { return r.ensemble }
func (r *real) SessionTimeout() time.Duration { return r.timeout }
func (r *real) Clients() []fault.Client       { return []fault.Client{r.client} }

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

// servers are the servers and links that the tests of faults share.
type servers struct {
	ensemble *ensemble.Local
	network  links.Network
}

// client connects a client to one server, by a link of its own.
func (s servers) client(t *testing.T, server int) *real {
	t.Helper()
	r := &real{ensemble: s.ensemble, timeout: 2 * time.Second}
	addr := s.ensemble.Servers()[server-1].Addr
	link, err := s.network.Link(t.Context(), t.Name(), addr)
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
	for _, server := range s.ensemble.Servers() {
		all = append(all, server.Addr)
	}
	r.direct = connect(t, all, 20*time.Second, net.DialTimeout)
	r.node, err = r.conn.Create("/presence-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.client = fault.Client{
		Links: map[int]links.Link{server: link}, Linked: server, States: []states.State{states.Holding},
		Session: r.conn.SessionID(), Password: r.password,
	}
	return r
}

// inTime starts or stops a fault within a deadline.
func inTime(ctx context.Context, d time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return do(ctx)
}

// begin puts a fault of the named kind in force, healed with the test.
func (r *real) begin(t *testing.T, name string, picks ...fault.Pick) (fault.Fault, time.Time) {
	t.Helper()
	kind, err := List().Named(name)
	if err != nil {
		t.Fatal(err)
	}
	leader, err := r.ensemble.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var pick fault.Pick
	if len(picks) > 0 {
		pick = picks[0]
	}
	f, err := kind.Make(fault.Scene{
		World: r, Free: r.Clients(), Everyone: r.Clients(), Leader: leader, Rand: rand.New(rand.NewPCG(1, 1)),
		Pick: fault.Pick{Aim: fault.AtHolder, Server: pick.Server, Params: pick.Params},
	})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if f.Stop != nil {
		t.Cleanup(func() {
			if err := inTime(context.Background(), f.HealWithin, f.Stop); err != nil {
				t.Error(err)
			}
		})
	}
	if err := inTime(t.Context(), f.HealWithin, f.Start); err != nil {
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
	t.Fatalf("%s is still there after %v", r.node, limit)
	return time.Time{}
}

// answers reports whether a request through the client's link is answered in time.
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

// follower returns the ID of a server that does not lead.
func (s servers) follower(t *testing.T) int {
	t.Helper()
	leader, err := s.ensemble.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return leader%3 + 1
}

// serve waits until the server does, or does not, take part in a quorum.
func (s servers) serve(t *testing.T, id int, want bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		asking, done := context.WithTimeout(ctx, 500*time.Millisecond)
		status, _, err := ensemble.AskStatus(asking, s.ensemble.Servers()[id-1])
		done()
		if (err == nil && status.Serving()) == want {
			return
		}
		if !wait.For(ctx, 20*time.Millisecond) {
			t.Fatalf("server %d: serving is not %v", id, want)
		}
	}
}

func (s servers) allServe(t *testing.T) {
	t.Helper()
	for id := range 3 {
		s.serve(t, id+1, true)
	}
}

// heals stops the fault within its deadline and waits until all servers serve.
func (s servers) heals(t *testing.T, f fault.Fault) {
	t.Helper()
	if err := inTime(context.Background(), f.HealWithin, f.Stop); err != nil {
		t.Fatal("it does not heal:", err)
	}
	s.allServe(t)
}

// settled waits until all servers serve, and returns the leader and a client of a follower.
func (s servers) settled(t *testing.T) (leader int, r *real) {
	t.Helper()
	s.allServe(t)
	r = s.client(t, s.follower(t))
	leader, err := s.ensemble.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return leader, r
}
