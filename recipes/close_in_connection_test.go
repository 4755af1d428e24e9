package recipes_test

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// dials opens connections as a dialer of the user does.
func dials(wrap func(*closer, net.Conn) net.Conn) setup {
	return func(e *zktest.Ensemble, c *closer) ([]recipes.Option, []recipes.LockOption) {
		return []recipes.Option{recipes.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
			if strings.HasPrefix(addr, "zk.test:") {
				addr = e.Servers()[0]
			}
			conn, err := e.Client("closes").DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return wrap(c, conn), nil
		})}, nil
	}
}

// dialed is a connection with methods of the user; a nil method does nothing.
type dialed struct {
	net.Conn
	read, write, closing, readBy, writeBy func()
}

func (d dialed) call(f func()) {
	if f != nil {
		f()
	}
}

func (d dialed) Read(p []byte) (int, error)  { d.call(d.read); return d.Conn.Read(p) }
func (d dialed) Write(p []byte) (int, error) { d.call(d.write); return d.Conn.Write(p) }
func (d dialed) Close() error                { d.call(d.closing); return d.Conn.Close() }
func (d dialed) SetReadDeadline(t time.Time) error {
	d.call(d.readBy)
	return d.Conn.SetReadDeadline(t)
}
func (d dialed) SetWriteDeadline(t time.Time) error {
	d.call(d.writeBy)
	return d.Conn.SetWriteDeadline(t)
}

// answering is a SASL mechanism with a hook before each answer to a challenge.
type answering struct {
	recipes.SASLMechanism
	hook func()
}

func (a answering) Start(ctx context.Context, server string) ([]byte, func([]byte) ([]byte, error), error) {
	first, next, err := a.SASLMechanism.Start(ctx, server)
	return first, func(challenge []byte) ([]byte, error) { a.hook(); return next(challenge) }, err
}

// handler is a log/slog handler.
type handler struct {
	slog.Handler
	c *closer
}

func (h handler) Enabled(context.Context, slog.Level) bool      { return true }
func (h handler) Handle(_ context.Context, r slog.Record) error { h.c.close(); return nil }

// writer is the writer of TLS keys (KeyLogWriter).
type writer func()

func (w writer) Write(p []byte) (int, error) { w(); return len(p), nil }

// cache is a cache of TLS sessions that keeps none.
type cache struct{ get, put func() }

func (c cache) Get(string) (*tls.ClientSessionState, bool) { c.get(); return nil, false }
func (c cache) Put(string, *tls.ClientSessionState)        { c.put() }

// eager reads all data of one end of a pipe, which has no buffer: a TLS server writes before it
// reads its client's data.
func eager(end net.Conn) net.Conn {
	e := &eagerConn{Conn: end, came: make(chan []byte, 1000)}
	go func() { // ends with the pipe
		defer close(e.came)
		for {
			p := make([]byte, 1<<12)
			n, err := end.Read(p)
			if err != nil {
				return
			}
			e.came <- p[:n]
		}
	}()
	return e
}

type eagerConn struct {
	net.Conn
	came chan []byte
	rest []byte
}

func (e *eagerConn) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		var open bool
		if e.rest, open = <-e.came; !open {
			return 0, io.EOF
		}
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// secures puts TLS between the client and the servers.
func secures(by func(*closer, *tls.Config)) setup {
	return func(e *zktest.Ensemble, c *closer) ([]recipes.Option, []recipes.LockOption) {
		a := newAuthority(c.t)
		key, cert := a.sign(c.t, "server")
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			c.t.Fatal(err)
		}
		conf := &tls.Config{RootCAs: a.pool(), ServerName: "server"}
		by(c, conf)
		options, _ := dials(func(_ *closer, conn net.Conn) net.Conn {
			near, far := net.Pipe()
			server := tls.Server(eager(far), &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert})
			for _, way := range []struct{ from, to net.Conn }{{server, conn}, {conn, server}} {
				go func() { // ends with one of the connections
					_, _ = io.Copy(way.to, way.from)
					_ = conn.Close()
					_ = far.Close()
				}()
			}
			return near
		})(e, c)
		return append(options, recipes.WithTLS(conf)), nil
	}
}
