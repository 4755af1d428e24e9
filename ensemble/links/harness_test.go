package links_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/ensemble/links"
)

// silence is the time for which a stream must stay silent to count as cut. An answer over
// loopback takes microseconds.
const silence = 150 * time.Millisecond

// noLeaks fails the test when it leaves goroutines behind. Call it first: it checks after
// the later cleanups.
func noLeaks(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		goleak.VerifyNone(t, before)
	})
}

// networks are the implementations that must behave alike.
func networks(t *testing.T, test func(t *testing.T, network links.Network)) {
	t.Helper()
	t.Run("in process", func(t *testing.T) {
		noLeaks(t)
		network, err := links.InProcess()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeNetwork(t, network) })
		test(t, network)
	})
	t.Run("remote", func(t *testing.T) {
		noLeaks(t)
		network, err := links.Remote(apiServer(t, 0))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeNetwork(t, network) })
		test(t, network)
	})
}

func closeNetwork(t *testing.T, network links.Network) {
	t.Helper()
	if err := network.Close(); err != nil {
		t.Error("Close:", err)
	}
	if err := network.Close(); err != nil {
		t.Error("second Close:", err)
	}
}

// apiServer serves Toxiproxy's API on loopback until the test ends. At the end at most
// mayStay proxies may be left on it.
func apiServer(t *testing.T, mayStay int) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return apiServerOn(t, listener, mayStay)
}

func apiServerOn(t *testing.T, listener net.Listener, mayStay int) string {
	zerolog.SetGlobalLevel(zerolog.Disabled)
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	server := &http.Server{Handler: api.Routes()}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(listener) }()
	t.Cleanup(func() {
		if left := len(api.Collection.Proxies()); left > mayStay {
			t.Errorf("%d proxies are left on the server after Close", left)
		}
		_ = server.Close()
		<-done
	})
	return "http://" + listener.Addr().String()
}

// echo is a server that answers each line with the same line.
type echo struct {
	net.Listener
	heard atomic.Int64 // number of lines received
	conns sync.WaitGroup
}

func newEcho(t *testing.T) *echo {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &echo{Listener: listener}
	e.conns.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			e.conns.Go(func() {
				defer conn.Close()
				for in := bufio.NewScanner(conn); in.Scan(); {
					e.heard.Add(1)
					fmt.Fprintln(conn, in.Text())
				}
			})
		}
	})
	// Registered before any link: links close first, and with them their connections.
	t.Cleanup(func() { listener.Close(); e.conns.Wait() })
	return e
}

// hears waits for n lines in all, with time for a busy machine, and returns the number
// received.
func (e *echo) hears(n int64) int64 {
	for until := time.Now().Add(5 * time.Second); e.heard.Load() < n && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	return e.heard.Load()
}

type client struct {
	net.Conn
	in *bufio.Reader
}

func dial(t *testing.T, addr string) client {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return client{conn, bufio.NewReader(conn)}
}

// ask sends a line and waits for its echo.
func (c client) ask(wait time.Duration) error {
	return c.askFor("hello", wait)
}

func (c client) askFor(line string, wait time.Duration) error {
	if _, err := fmt.Fprintln(c, line); err != nil {
		return err
	}
	_ = c.SetReadDeadline(time.Now().Add(wait))
	_, err := c.in.ReadString('\n')
	return err
}

func (c client) mustAnswer(t *testing.T) {
	t.Helper()
	if err := c.ask(2 * time.Second); err != nil {
		t.Fatal("the link should carry data:", err)
	}
}

func (c client) mustBeSilent(t *testing.T) {
	t.Helper()
	if err := c.ask(silence); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("want silence on an open connection, got %v", err)
	}
}

// mustBeClosed waits for the end of a connection.
func (c client) mustBeClosed(t *testing.T) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(2 * time.Second))
	for {
		switch _, err := c.in.ReadByte(); {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			t.Fatal("the connection is still open")
		default:
			return
		}
	}
}

func mustRefuse(t *testing.T, addr string) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err == nil {
		conn.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("want connection refused, got %v", err)
	}
}

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newLink(t *testing.T, network links.Network, server *echo) links.Link {
	t.Helper()
	link, err := network.Link(testContext(t), "a-1", server.Addr().String())
	must(t, err)
	return link
}

// pump sends requests as fast as it can, over new connections when the old ones end.
func pump(addr string, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			time.Sleep(time.Millisecond) // a refused dial returns at once: leave the CPU to others
			continue
		}
		for c := (client{conn, bufio.NewReader(conn)}); c.ask(50*time.Millisecond) == nil; {
			select {
			case <-stop:
				conn.Close()
				return
			default:
			}
		}
		conn.Close()
	}
}
