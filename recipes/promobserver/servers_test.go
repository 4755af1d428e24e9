package promobserver_test

import (
	"context"
	"encoding/binary"
	"net"
	"path"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// servers holds the servers that a service connects to, and the faults of its clients' links and
// sessions.
type servers struct {
	t testing.TB

	// The service's time passes faster than the clock by this factor.
	faster float64
	// root is put before every path of the service's locks.
	root string
	// reach returns the addresses and options with which a client connects, by the client's name.
	reach func(client string) (addrs []string, options []recipes.Option)
	// refuse closes the client's connections and refuses new ones until heal.
	refuse, heal func(client string)
	// expire ends the client's session by force.
	expire func(client string)
}

// real returns the time on the clock that d takes.
func (s servers) real(d time.Duration) time.Duration {
	return time.Duration(float64(d) / s.faster)
}

func (s servers) sleep(d time.Duration) { time.Sleep(s.real(d)) }

// inVirtualTime returns simulated servers, in the bubble of t.
func inVirtualTime(t *testing.T) servers {
	e := zktest.Start(t, zktest.SessionTimeouts(time.Second, 2*time.Minute))
	return servers{
		t: t, faster: 1,
		reach: func(client string) ([]string, []recipes.Option) {
			return e.Servers(), []recipes.Option{recipes.WithDialer(e.Client(client).DialContext)}
		},
		refuse: func(client string) { e.Client(client).Refuse() },
		heal:   func(client string) { e.Client(client).Heal() },
		expire: func(client string) { e.Client(client).Expire() },
	}
}

// inRealTime returns a real server, for a service whose time passes five times as fast: twenty
// minutes of it take four. Its paths are below a path of the test.
func inRealTime(t *testing.T) servers {
	if server == "" {
		t.Skip("needs a real server")
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const faster = 5
	var mu sync.Mutex
	all := make(map[string]*realLink)
	link := func(client string) *realLink {
		mu.Lock()
		defer mu.Unlock()
		if all[client] == nil {
			l, err := network.Link(t.Context(), t.Name()+client, server)
			must(err)
			t.Cleanup(func() { _ = l.Close() })
			all[client] = &realLink{Link: l}
		}
		return all[client]
	}
	root := "/" + path.Base(t.Name())
	return servers{
		t: t, faster: faster, root: root,
		reach: func(client string) ([]string, []recipes.Option) {
			l := link(client)
			return []string{l.Addr()}, []recipes.Option{
				recipes.WithSessionTimeout(10 * time.Second / faster), recipes.WithServerTick(200 * time.Millisecond),
				recipes.WithNamespace(root), recipes.WithDialer(l.dial)}
		},
		refuse: func(client string) { must(link(client).Cut(context.Background(), links.Down)) },
		heal:   func(client string) { must(link(client).Heal(context.Background())) },
		expire: func(client string) {
			// The client may be connecting to the server as well: then the server ends one of the
			// two connections.
			for deadline := time.Now().Add(5 * time.Second); ; {
				id, password := link(client).credentials()
				err := ensemble.Expire(t.Context(), ensemble.Server{Addr: server}, id, password, 5*time.Second)
				if err == nil || time.Now().After(deadline) {
					must(err)
					return
				}
			}
		},
	}
}

// realLink is a client's link to a real server. It reads the session that the server grants, and
// its password.
type realLink struct {
	links.Link

	mu       sync.Mutex
	id       int64
	password []byte
}

func (l *realLink) credentials() (int64, []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.id, l.password
}

func (l *realLink) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &readAlong{Conn: conn, link: l}, nil
}

// readAlong reads the first reply on a connection: its length, the protocol, the timeout, the
// session, and a password of 16 bytes with its length.
type readAlong struct {
	net.Conn
	link  *realLink
	reply []byte // the part of it that has come
}

func (c *readAlong) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	const whole = 4 + 4 + 4 + 8 + 4 + 16
	if len(c.reply) < whole {
		if c.reply = append(c.reply, p[:n]...); len(c.reply) >= whole {
			c.link.mu.Lock()
			c.link.id, c.link.password = int64(binary.BigEndian.Uint64(c.reply[12:])), c.reply[24:whole]
			c.link.mu.Unlock()
		}
	}
	return n, err
}
