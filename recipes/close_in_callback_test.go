package recipes_test

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/slogobserver"
	"github.com/zkverify/zkverify/zktest"
)

// closer closes its client once, in a callback, and remembers that the call has returned.
type closer struct {
	t      *testing.T
	client atomic.Pointer[recipes.Client]
	begun  atomic.Bool
	done   chan struct{}
}

func (c *closer) close() {
	client := c.client.Load()
	if client == nil || !c.begun.CompareAndSwap(false, true) {
		return // Connect has not returned yet
	}
	if err := client.Close(context.Background()); err != nil {
		c.t.Errorf("Close: %v", err)
	}
	if _, err := recipes.NewMutex(client, "/after").Acquire(context.Background()); !errors.Is(err, recipes.ErrClosed) {
		c.t.Errorf("an acquire after Close: %v", err)
	}
	close(c.done)
}

func (c *closer) lease(*recipes.Lease)                           { c.close() }
func (c *closer) leaseAndTime(_ *recipes.Lease, _ time.Duration) { c.close() }

// setup returns options with a function that closes the client.
type setup func(e *zktest.Ensemble, c *closer) ([]recipes.Option, []recipes.LockOption)

// closers holds all functions of the user that a client calls. Each setup returns options with
// the function, and arranges for the client to call it after it has connected, if a contended
// lock, a revocation, the loss of the link and the loss of the session do not.
var closers = map[string]setup{
	"a connection listener, when it is suspended": listens(recipes.ConnSuspended),
	"a connection listener, when it is back":      listens(recipes.ConnReconnected),
	"a connection listener, when it is lost":      listens(recipes.ConnLost),
	"Observer.Acquired":                           observes(func(c *closer) recipes.Observer { return recipes.Observer{Acquired: c.leaseAndTime} }),
	"Observer.Suspended":                          observes(func(c *closer) recipes.Observer { return recipes.Observer{Suspended: c.lease} }),
	"Observer.Resumed":                            observes(func(c *closer) recipes.Observer { return recipes.Observer{Resumed: c.lease} }),
	"Observer.Lost": observes(func(c *closer) recipes.Observer {
		return recipes.Observer{Lost: func(*recipes.Lease, recipes.LossReason, time.Duration) { c.close() }}
	}),
	"Observer.Released": observes(func(c *closer) recipes.Observer { return recipes.Observer{Released: c.leaseAndTime} }),
	"Observer.RevokeRequested": func(_ *zktest.Ensemble, c *closer) ([]recipes.Option, []recipes.LockOption) {
		return []recipes.Option{recipes.WithObserver(recipes.Observer{RevokeRequested: c.lease})}, []recipes.LockOption{recipes.WithRevocation(func(*recipes.Lease) {})}
	},
	"Observer.Enqueued": observes(func(c *closer) recipes.Observer {
		return recipes.Observer{Enqueued: func(context.Context, recipes.Enqueued) { c.close() }}
	}),
	"Observer.GaveUp": observes(func(c *closer) recipes.Observer {
		return recipes.Observer{GaveUp: func(context.Context, recipes.Acquiring, error) { c.close() }}
	}),
	"Observer.Acquiring": observes(func(c *closer) recipes.Observer {
		return recipes.Observer{Acquiring: func(ctx context.Context, _ recipes.Acquiring) context.Context { c.close(); return ctx }}
	}),
	"WithRevocation": func(_ *zktest.Ensemble, c *closer) ([]recipes.Option, []recipes.LockOption) {
		return nil, []recipes.LockOption{recipes.WithRevocation(c.lease)}
	},
	"a handler of log/slog":                     observes(func(c *closer) recipes.Observer { return slogobserver.New(slog.New(handler{slog.DiscardHandler, c})) }),
	"WithDialer":                                dials(func(c *closer, conn net.Conn) net.Conn { c.close(); return conn }),
	"Read of a dialer's connection":             dials(func(c *closer, conn net.Conn) net.Conn { return dialed{Conn: conn, read: c.close} }),
	"Write of a dialer's connection":            dials(func(c *closer, conn net.Conn) net.Conn { return dialed{Conn: conn, write: c.close} }),
	"Close of a dialer's connection":            dials(func(c *closer, conn net.Conn) net.Conn { return dialed{Conn: conn, closing: c.close} }),
	"SetReadDeadline of a dialer's connection":  dials(func(c *closer, conn net.Conn) net.Conn { return dialed{Conn: conn, readBy: c.close} }),
	"SetWriteDeadline of a dialer's connection": dials(func(c *closer, conn net.Conn) net.Conn { return dialed{Conn: conn, writeBy: c.close} }),
	"Start of a SASL mechanism": func(_ *zktest.Ensemble, c *closer) ([]recipes.Option, []recipes.LockOption) {
		return []recipes.Option{app(func(string) error { c.close(); return nil })}, nil
	},
	"the answer of a SASL mechanism to a challenge": func(_ *zktest.Ensemble, c *closer) ([]recipes.Option, []recipes.LockOption) {
		return []recipes.Option{recipes.WithSASL(answering{recipes.DigestMD5("app", "secret"), c.close})}, nil
	},
	"VerifyConnection of TLS": secures(func(c *closer, conf *tls.Config) {
		conf.VerifyConnection = func(tls.ConnectionState) error { c.close(); return nil }
	}),
	"GetClientCertificate of TLS": secures(func(c *closer, conf *tls.Config) {
		conf.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			c.close()
			return new(tls.Certificate), nil
		}
	}),
	"KeyLogWriter of TLS":                             secures(func(c *closer, conf *tls.Config) { conf.KeyLogWriter = writer(c.close) }),
	"ClientSessionCache of TLS, before the handshake": secures(func(c *closer, conf *tls.Config) { conf.ClientSessionCache = cache{get: c.close, put: func() {}} }),
	"ClientSessionCache of TLS, after it":             secures(func(c *closer, conf *tls.Config) { conf.ClientSessionCache = cache{get: func() {}, put: c.close} }),
	"WithGrantRule": func(_ *zktest.Ensemble, c *closer) ([]recipes.Option, []recipes.LockOption) {
		return nil, []recipes.LockOption{recipes.WithGrantRule(func(_ []recipes.Place, self int) int { c.close(); return self - 1 })}
	},
}

func listens(to recipes.ConnectionState) setup {
	return func(_ *zktest.Ensemble, c *closer) ([]recipes.Option, []recipes.LockOption) {
		return []recipes.Option{recipes.WithConnectionListener(func(s recipes.ConnectionState) {
			if s == to {
				c.close()
			}
		})}, nil
	}
}

func observes(by func(c *closer) recipes.Observer) setup {
	return func(_ *zktest.Ensemble, c *closer) ([]recipes.Option, []recipes.LockOption) {
		return []recipes.Option{recipes.WithObserver(by(c))}, nil
	}
}

// A goroutine that continues after the client has been closed keeps the bubble from ending. A
// server's name may have several addresses, and the race between them calls the same functions as
// a connection.
func TestCloseInEveryCallback(t *testing.T) {
	for name, setup := range closers {
		for how, server := range map[string]string{"servers by address": "", "a server by name": "zk.test:2181"} {
			t.Run(name+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := zktest.Start(t, zktest.SASL(map[string]string{"app": "secret"}, false))
					c := &closer{t: t, done: make(chan struct{})}
					direct, _ := dials(func(_ *closer, conn net.Conn) net.Conn { return conn })(e, c)
					own, mutexOptions := setup(e, c)
					servers := e.Servers()
					if server != "" {
						servers = []string{server}
					}
					options := append(direct, recipes.WithLookup(hosts(e)), recipes.WithSessionTimeout(2*time.Second))
					client, err := recipes.Connect(t.Context(), servers, append(options, own...)...)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = client.Close(context.Background()) })
					c.client.Store(client)
					other := bubbleClient(t, e, "other")
					var life sync.WaitGroup
					life.Go(func() { liveThrough(client, other, e.Client("closes"), mutexOptions) })
					<-c.done
					life.Wait()
				})
			})
		}
	}
}

// The client asks the resolver for the other addresses of a name when the first one fails.
func TestCloseInTheResolver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		c := &closer{t: t, done: make(chan struct{})}
		options, _ := dials(func(_ *closer, conn net.Conn) net.Conn { return conn })(e, c)
		client, err := recipes.Connect(t.Context(), []string{"zk.test:2181"}, append(options, recipes.WithLookup(
			func(ctx context.Context, name string) ([]string, error) { c.close(); return hosts(e)(ctx, name) }))...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close(context.Background()) }) // when that in the resolver has ended
		c.client.Store(client)
		e.Client("closes").Refuse()
		<-c.done
	})
}

// hosts returns a resolver with the same addresses for every name.
func hosts(e *zktest.Ensemble) func(context.Context, string) ([]string, error) {
	return func(context.Context, string) (all []string, err error) {
		for _, addr := range e.Servers() {
			host, _, _ := net.SplitHostPort(addr)
			all = append(all, host)
		}
		return all, nil
	}
}

// liveThrough makes a client call every function that it may call.
func liveThrough(client, other *recipes.Client, link *zktest.Client, options []recipes.LockOption) {
	ctx := context.Background()
	m := recipes.NewMutex(client, "/lock", options...)
	l, err := m.Acquire(ctx)
	if err != nil {
		return
	}
	_ = other.Revoke(ctx, l.Node())
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	_, _ = m.Acquire(short) // gives up
	_ = l.Release(ctx)
	if l, err = m.Acquire(ctx); err != nil {
		return
	}
	link.Disconnect()
	time.Sleep(time.Second)
	link.Expire()
	time.Sleep(3 * time.Second)
	_ = l.Release(ctx)
	_, _ = m.Acquire(ctx)
	link.Cut()
	time.Sleep(5 * time.Second)
	link.Heal()
}

// Functions that get a lease, called in the caller's own goroutine or in another one.
func TestCloseInsideALease(t *testing.T) {
	for name, work := range map[string]func(c *recipes.Client, close func()) error{
		"Do of a mutex": func(c *recipes.Client, close func()) error {
			return recipes.NewMutex(c, "/l").Do(context.Background(), func(context.Context, *recipes.Lease) error { close(); return nil })
		},
		"Do of a semaphore": func(c *recipes.Client, close func()) error {
			return recipes.NewSemaphore(c, "/l", 2).Do(context.Background(), func(context.Context, *recipes.Lease) error { close(); return nil })
		},
		"Do of a multi-lock": func(c *recipes.Client, close func()) error {
			return recipes.NewMultiLock(recipes.NewMutex(c, "/a"), recipes.NewMutex(c, "/b")).Do(context.Background(), func(context.Context, *recipes.MultiLease) error { close(); return nil })
		},
		"Run of an election": func(c *recipes.Client, close func()) error {
			return recipes.NewElection(c, "/l").Run(context.Background(), func(context.Context, *recipes.Lease) error { close(); return nil })
		},
		"Observe of an election": func(c *recipes.Client, close func()) error {
			for _, err := range recipes.NewElection(c, "/l").Observe(context.Background()) {
				if err != nil {
					return err
				}
				close()
			}
			return nil
		},
		"Guard of a fence": func(c *recipes.Client, close func()) error {
			return new(recipes.Fence).Guard(recipes.Token{Zxid: 1}, func() error { close(); return recipes.ErrClosed })
		},
		"the end of a lease's context": func(c *recipes.Client, close func()) error {
			l, err := recipes.NewMutex(c, "/l").Acquire(context.Background())
			if err != nil {
				return err
			}
			closed := make(chan struct{})
			context.AfterFunc(l.Context(), func() { close(); closed <- struct{}{} })
			_ = l.Release(context.Background())
			<-closed
			return recipes.ErrClosed
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := bubbleClient(t, zktest.Start(t), "closes")
				err := work(client, func() {
					if err := client.Close(context.Background()); err != nil {
						t.Error(err)
					}
				})
				if !errors.Is(err, recipes.ErrClosed) && !errors.Is(err, recipes.ErrLeaseLost) {
					t.Errorf("it returns %v", err)
				}
			})
		})
	}
}

// A callback of one client closes another one, and waits for it.
func TestACallbackClosesAnotherClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		told := make(chan bool, 1)
		var closed atomic.Bool
		other := bubbleClient(t, e, "other", recipes.WithConnectionListener(func(s recipes.ConnectionState) {
			if s == recipes.ConnClosed {
				closed.Store(true)
			}
		}))
		c := bubbleClient(t, e, "closes", recipes.WithObserver(recipes.Observer{Acquired: func(*recipes.Lease, time.Duration) {
			_ = other.Close(context.Background())
			told <- closed.Load()
		}}))
		acquire(t, t.Context(), recipes.NewMutex(c, "/l"))
		if !<-told {
			t.Error("Close returns before the other client's listener has been told")
		}
	})
}
