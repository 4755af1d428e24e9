package faults

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
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
	r.client = fault.Client{
		Links: map[int]links.Link{server: link}, Linked: server, States: []states.State{states.Holding},
		Session: r.conn.SessionID(), Password: r.password,
	}
	return r
}

// inTime starts or stops a fault within the time that it gets.
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

	for _, name := range []string{"down", "black-hole", "requests-lost", "replies-lost", "reset"} {
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
		r.client.States = []states.State{states.Waiting}
		leader, err := e.Leader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		scene := fault.Scene{World: r, Free: r.Clients(), Everyone: r.Clients(), Leader: leader, Rand: rand.New(rand.NewPCG(1, 1)), Pick: fault.Pick{Aim: fault.AtHolder}, Exact: true}
		if f, err := MakeFollower(scene); !errors.Is(err, fault.ErrNobody) {
			t.Errorf("aimed at a holder, it hits %v, error %v", f.Targets, err)
		}
		scene.Pick.Aim = fault.AtWaiter
		if f, err := MakeFollower(scene); err != nil || !slices.Contains(f.Targets, "client 0") {
			t.Errorf("it hits %v, error %v", f.Targets, err)
		}
	})
	t.Run("truncated-reply carries a request out and ends the connection in its reply", func(t *testing.T) {
		r := newReal(t, e, network, 1)
		// 16 bytes are the reply to a ping or to a deletion less its length.
		r.begin(t, "truncated-reply", fault.Pick{Params: map[string]string{"bytes": "10"}})
		if err := r.conn.Delete(r.node, -1); err == nil {
			t.Error("a reply of which only half has arrived was taken for one")
		}
		if there, _, err := r.direct.Exists(r.node); err != nil || there {
			t.Errorf("the node is there: %v, error %v; want it deleted", there, err)
		}
	})
	t.Run("bandwidth makes a large reply take its time", func(t *testing.T) {
		r := newReal(t, e, network, 1)
		if _, err := r.conn.Set(r.node, make([]byte, 1000), -1); err != nil {
			t.Fatal(err)
		}
		r.begin(t, "bandwidth", fault.Pick{Params: map[string]string{"bytes-per-second": "2000"}})
		start := time.Now()
		if _, _, err := r.conn.Get(r.node); err != nil || time.Since(start) < 400*time.Millisecond {
			t.Errorf("1000 bytes at 2000 a second came in %v, error %v", time.Since(start), err)
		}
	})
	t.Run("slicer delivers a reply in pieces, whole", func(t *testing.T) {
		r := newReal(t, e, network, 1)
		data := bytes.Repeat([]byte("0123456789"), 40)
		if _, err := r.conn.Set(r.node, data, -1); err != nil {
			t.Fatal(err)
		}
		r.begin(t, "slicer", fault.Pick{Params: map[string]string{"size": "8", "pause": "2ms"}})
		start := time.Now()
		got, _, err := r.conn.Get(r.node)
		// Pieces of at most 12 bytes, with 2 ms after each.
		if err != nil || !bytes.Equal(got, data) || time.Since(start) < 60*time.Millisecond {
			t.Errorf("%d of %d bytes came in %v, error %v", len(got), len(data), time.Since(start), err)
		}
	})

	// serves waits until the server does, or does not, take part in a quorum.
	serves := func(t *testing.T, id int, want bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		for {
			asking, done := context.WithTimeout(ctx, 500*time.Millisecond)
			status, _, err := ensemble.AskStatus(asking, e.Servers()[id-1].Addr)
			done()
			if (err == nil && status.Serving()) == want {
				return
			}
			if !wait.For(ctx, 20*time.Millisecond) {
				t.Fatalf("server %d: serving is not %v", id, want)
			}
		}
	}
	all := func(t *testing.T) {
		t.Helper()
		for id := range 3 {
			serves(t, id+1, true)
		}
	}
	// heals undoes the fault within its deadline and waits until all serve.
	heals := func(t *testing.T, f fault.Fault) {
		t.Helper()
		if err := inTime(context.Background(), f.HealWithin, f.Stop); err != nil {
			t.Fatal("it does not heal:", err)
		}
		all(t)
	}
	settle := func(t *testing.T) (leader int, r *real) {
		t.Helper()
		all(t)
		server := follower(t)
		r = newReal(t, e, network, server)
		leader, err := e.Leader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return leader, r
	}

	t.Run("isolate-server keeps a follower from serving", func(t *testing.T) {
		_, r := settle(t)
		f, _ := r.begin(t, "isolate-server", fault.Pick{Server: fault.Server(fmt.Sprint(r.client.Linked))})
		serves(t, r.client.Linked, false)
		heals(t, f)
	})
	t.Run("partition leaves the minority's clients nowhere to go", func(t *testing.T) {
		leader, r := settle(t)
		elsewhere, err := network.Link(t.Context(), t.Name()+"-elsewhere", e.Servers()[leader-1].Addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = elsewhere.Close() })
		r.client.Links[leader] = elsewhere
		f, _ := r.begin(t, "partition", fault.Pick{Server: fault.Server(fmt.Sprint(r.client.Linked))})
		asking, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, _, err := ensemble.AskStatus(asking, elsewhere.Addr()); err == nil {
			t.Error("the client reaches a server of the majority")
		}
		serves(t, r.client.Linked, false)
		serves(t, leader, true)
		heals(t, f)
		if _, _, err := ensemble.AskStatus(t.Context(), elsewhere.Addr()); err != nil {
			t.Error("healed, the client does not reach the majority:", err)
		}
	})
	t.Run("bridge keeps the leader and a follower apart, the third serves", func(t *testing.T) {
		leader, r := settle(t)
		f, _ := r.begin(t, "bridge", fault.Pick{Server: fault.Server(fmt.Sprint(r.client.Linked))})
		cut := 6 - leader - r.client.Linked
		serves(t, cut, false)
		if !r.answers(5 * time.Second) {
			t.Error("the bridge does not serve")
		}
		heals(t, f)
	})
	for _, lost := range []string{"from-leader", "to-leader"} {
		t.Run("one-way, "+lost+", keeps a follower from serving", func(t *testing.T) {
			_, r := settle(t)
			f, _ := r.begin(t, "one-way", fault.Pick{Server: fault.Server(fmt.Sprint(r.client.Linked)), Params: map[string]string{"lost": lost}})
			serves(t, r.client.Linked, false)
			heals(t, f)
		})
	}
	t.Run("cut-quorum leaves servers that run, accept, and serve nobody", func(t *testing.T) {
		_, r := settle(t)
		f, _ := r.begin(t, "cut-quorum")
		if len(f.Servers) != 3 {
			t.Errorf("it hits %v of three", f.Targets)
		}
		for id := range 3 {
			serves(t, id+1, false)
		}
		for id, s := range e.Servers() {
			if !e.Running(id + 1) {
				t.Errorf("server %d does not run", id+1)
			}
			conn, err := net.DialTimeout("tcp", s.Addr, time.Second)
			if err != nil {
				t.Errorf("server %d accepts no connection: %v", id+1, err)
				continue
			}
			// What a client of a new session sends first.
			_, _ = conn.Write(append([]byte{0, 0, 0, 44}, make([]byte, 44)...))
			_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
			if n, err := conn.Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("server %d leaves a connection open, or answers: %d bytes, %v", id+1, n, err)
			}
			conn.Close()
		}
		heals(t, f)
	})
	t.Run("slow-peers makes writes slow, and reads not", func(t *testing.T) {
		_, r := settle(t)
		f, _ := r.begin(t, "slow-peers", fault.Pick{Params: map[string]string{"latency": "100ms", "jitter": "0s"}})
		start := time.Now()
		if _, err := r.conn.Set(r.node, nil, -1); err != nil || time.Since(start) < 200*time.Millisecond {
			t.Errorf("a write took %v, error %v; want at least a trip to the leader and back, 100 ms each", time.Since(start), err)
		}
		heals(t, f)
	})
	t.Run("kill-server moves its client, who keeps the session", func(t *testing.T) {
		_, r := settle(t)
		f, _ := r.begin(t, "kill-server", fault.Pick{Server: fault.Server(fmt.Sprint(r.client.Linked))})
		if e.Running(r.client.Linked) || r.answers(300*time.Millisecond) {
			t.Error("the server lives")
		}
		heals(t, f)
	})
	t.Run("kill-leader makes another server lead", func(t *testing.T) {
		leader, r := settle(t)
		f, _ := r.begin(t, "kill-leader")
		if e.Running(leader) {
			t.Error("the leader lives")
		}
		serves(t, leader%3+1, true)
		if now, err := e.Leader(t.Context()); err == nil && now == leader {
			t.Error("it still leads")
		}
		heals(t, f)
	})
	t.Run("pause-server leaves connections open and answers nothing", func(t *testing.T) {
		_, r := settle(t)
		f, _ := r.begin(t, "pause-server", fault.Pick{Server: fault.Server(fmt.Sprint(r.client.Linked))})
		conn, err := net.DialTimeout("tcp", e.Servers()[r.client.Linked-1].Addr, time.Second)
		if err != nil {
			t.Error("a paused server accepts connections:", err)
		} else {
			conn.Close()
		}
		if !e.Running(r.client.Linked) || r.answers(300*time.Millisecond) {
			t.Error("the server answers, or has died")
		}
		heals(t, f)
	})
	t.Run("lose-quorum keeps all from serving", func(t *testing.T) {
		_, r := settle(t)
		f, _ := r.begin(t, "lose-quorum")
		if len(f.Servers) != 2 {
			t.Errorf("it hits %v of three", f.Targets)
		}
		for id := range 3 {
			serves(t, id+1, false)
		}
		heals(t, f)
	})
	t.Run("restart-server ends the server's connections and is over when it serves", func(t *testing.T) {
		_, r := settle(t)
		conn, err := net.DialTimeout("tcp", e.Servers()[r.client.Linked-1].Addr, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		r.begin(t, "restart-server", fault.Pick{Server: fault.Server(fmt.Sprint(r.client.Linked))})
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("its connection has not ended: %v", err)
		}
		asking, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if status, _, err := ensemble.AskStatus(asking, e.Servers()[r.client.Linked-1].Addr); err != nil || !status.Serving() {
			t.Errorf("it does not serve: %+v, error %v", status, err)
		}
	})
	t.Run("rolling-restart ends the connections of every server, and all serve again", func(t *testing.T) {
		_, r := settle(t)
		var before []net.Conn
		for _, s := range e.Servers() {
			conn, err := net.DialTimeout("tcp", s.Addr, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			before = append(before, conn)
		}
		r.begin(t, "rolling-restart")
		for i, conn := range before {
			_ = conn.SetReadDeadline(time.Now().Add(time.Second))
			if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the connection to server %d has not ended: %v", i+1, err)
			}
		}
		all(t)
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
			if !wait.For(ctx, 50*time.Millisecond) {
				t.Fatal("no other leader")
			}
		}
	})
}
