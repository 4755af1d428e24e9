package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// bad holds kinds of addresses that have no healthy server.
var bad = map[string]func(e *zktest.Ensemble, server int) func(context.Context) (net.Conn, error){
	"it swallows what is sent to it": func(*zktest.Ensemble, int) func(context.Context) (net.Conn, error) {
		return func(ctx context.Context) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
	},
	"it refuses": func(*zktest.Ensemble, int) func(context.Context) (net.Conn, error) {
		return func(context.Context) (net.Conn, error) { return nil, errNobodyThere }
	},
	"it accepts, and says nothing": func(*zktest.Ensemble, int) func(context.Context) (net.Conn, error) {
		return func(context.Context) (net.Conn, error) { return piped(func(net.Conn, []byte) {}), nil }
	},
	"it accepts, and closes": func(*zktest.Ensemble, int) func(context.Context) (net.Conn, error) {
		return func(context.Context) (net.Conn, error) { return piped(func(c net.Conn, _ []byte) { c.Close() }), nil }
	},
	"it is no ZooKeeper server": func(*zktest.Ensemble, int) func(context.Context) (net.Conn, error) {
		return func(context.Context) (net.Conn, error) {
			return piped(func(c net.Conn, _ []byte) { _, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }), nil
		}
	},
	"it is a server that has stopped": func(e *zktest.Ensemble, server int) func(context.Context) (net.Conn, error) {
		e.Pause(server)
		return nil
	},
}

var errNobodyThere = errors.New("connection refused")

// piped returns a connection to a server that answers its client's first packet with serve, and
// reads the rest.
func piped(serve func(conn net.Conn, first []byte)) net.Conn {
	ours, theirs := net.Pipe()
	go func() { // ends when the client closes
		defer theirs.Close()
		var p [1 << 10]byte
		n, err := theirs.Read(p[:])
		if err == nil {
			serve(theirs, p[:n])
		}
		for err == nil {
			_, err = theirs.Read(p[:])
		}
	}()
	return ours
}

// named returns a name with the addresses of an ensemble, and a dialer that dials the first
// address for the name, as net.Dialer does when that address accepts.
func named(e *zktest.Ensemble, client string, instead map[int]func(context.Context) (net.Conn, error), open *atomic.Int64) []recipes.Option {
	addresses := e.Servers()
	return []recipes.Option{
		recipes.WithLookup(func(context.Context, string) (hosts []string, err error) {
			for _, a := range addresses {
				host, _, _ := net.SplitHostPort(a)
				hosts = append(hosts, host)
			}
			return hosts, nil
		}),
		recipes.WithDialer(func(ctx context.Context, network, addr string) (conn net.Conn, err error) {
			if strings.HasPrefix(addr, "zk.test:") {
				addr = addresses[0]
			}
			for i, a := range addresses {
				if addr != a {
					continue
				}
				if dial := instead[i+1]; dial != nil {
					conn, err = dial(ctx)
				} else {
					conn, err = e.Client(client).DialContext(ctx, network, addr)
				}
			}
			if err == nil {
				open.Add(1)
				conn = &openConn{Conn: conn, open: open}
			}
			return conn, err
		}),
	}
}

// openConn counts down when it is closed for the first time.
type openConn struct {
	net.Conn
	open   *atomic.Int64
	closed atomic.Bool
}

func (c *openConn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.open.Add(-1)
	}
	return c.Conn.Close()
}

// With any kind of server at the first addresses of a name, a client finds a healthy server at
// another address within twice the time that one address has; twice, because it first asks for
// the servers' least session timeout. No other connection stays open.
func TestEveryAddressOfANameGetsItsTry(t *testing.T) {
	const timeout = 6 * time.Second
	for name, at := range bad {
		for first := range 2 {
			t.Run(fmt.Sprintf("%s, at the first %d of 5", name, first+1), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := zktest.Start(t, zktest.Servers(5))
					instead := make(map[int]func(context.Context) (net.Conn, error))
					for i := range first + 1 {
						if e.Leader() == i+1 && strings.Contains(name, "stopped") {
							instead[i+1] = bad["it accepts, and says nothing"](e, i+1) // other kinds would make the servers elect another leader first
							continue
						}
						instead[i+1] = at(e, i+1)
					}
					var open atomic.Int64
					begun := time.Now()
					c, err := recipes.Connect(t.Context(), []string{"zk.test:2181"}, append(named(e, "one", instead, &open), recipes.WithSessionTimeout(timeout))...)
					if err != nil {
						t.Fatal(err)
					}
					if took := time.Since(begun); took > 2*timeout/3 {
						t.Errorf("Connect took %v", took)
					}
					l := acquire(t, t.Context(), recipes.NewMutex(c, "/l"))
					synctest.Wait()
					if n := open.Load(); n != 1 {
						t.Errorf("%d connections are open", n)
					}
					e.Client("one").Disconnect() // the session continues at a healthy address
					time.Sleep(timeout / 2)
					if !l.Valid() || l.State() != recipes.Held {
						t.Errorf("after a reconnect the lease is %v", l.State())
					}
					_ = c.Close(context.Background())
					synctest.Wait()
					if n := open.Load(); n != 0 {
						t.Errorf("%d connections are left", n)
					}
				})
			})
		}
	}
}

// When no address has a healthy server, the error names the fault of each address.
func TestANameWithoutAHealthyServerSaysWhatIsWrongWithEachAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		var open atomic.Int64
		instead := map[int]func(context.Context) (net.Conn, error){
			1: bad["it refuses"](e, 1), 2: bad["it accepts, and closes"](e, 2), 3: bad["it accepts, and says nothing"](e, 3),
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := recipes.Connect(ctx, []string{"zk.test:2181"}, append(named(e, "one", instead, &open), recipes.WithSessionTimeout(3*time.Second))...)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errNobodyThere) {
			t.Fatalf("it says %v", err)
		}
		for _, says := range []string{"zk.test:2181: ", "192.0.2.2:2181: ", "EOF", "192.0.2.3:2181: no answer within 1s"} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("it says %v, without %q", err, says)
			}
		}
		synctest.Wait()
		if n := open.Load(); n != 0 {
			t.Errorf("%d connections are left", n)
		}
	})
}
