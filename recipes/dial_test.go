package recipes_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

func TestLocksOverTLS(t *testing.T) {
	endsItsGoroutines(t)
	ca := newAuthority(t)
	addr := secureServer(t, ca)
	link, err := network.Link(t.Context(), t.Name(), addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { link.Close() })
	path := uniquePath(t)
	heard := listen()

	// The certificate is checked against the name that Connect is given; the dialer decides which
	// address it dials.
	var asked string
	c := connect(t, []string{"zk.test:2281"}, recipes.WithTLS(ca.client(t)), recipes.WithConnectionListener(heard.told),
		recipes.WithSessionTimeout(6*time.Second),
		recipes.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
			asked = addr
			return new(net.Dialer).DialContext(ctx, network, link.Addr())
		}))
	if asked != "zk.test:2281" {
		t.Errorf("the dialer was asked for %q", asked)
	}
	heard.next(t, recipes.ConnConnected)
	m := recipes.NewMutex(c, path)
	l := acquire(t, within(t), m)
	if got := c.SessionTimeout(); got != 6*time.Second {
		t.Errorf("negotiated %v", got)
	}
	first := l.Deadline()
	eventually(t, "heartbeats are confirmed", func() bool { return l.Deadline().After(first) })
	if err := link.Cut(within(t), links.Down); err != nil {
		t.Fatal(err)
	}
	heard.next(t, recipes.ConnSuspended)
	if err := link.Heal(within(t)); err != nil {
		t.Fatal(err)
	}
	heard.next(t, recipes.ConnReconnected)
	if !l.Valid() {
		t.Error("the lease did not survive a reconnect")
	}
	second := connect(t, []string{addr}, recipes.WithTLS(ca.client(t)))
	if _, err := recipes.NewMutex(second, path).TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("a second client: %v", err)
	}
	if err := link.Cut(within(t), links.BlackHole); err != nil {
		t.Fatal(err)
	}
	lostBeforeAnotherHolds(t, l, acquiring(within(t), recipes.NewMutex(second, path)))
	if err := link.Heal(within(t)); err != nil {
		t.Fatal(err)
	}
	heard.next(t, recipes.ConnSuspended, recipes.ConnLost, recipes.ConnReconnected)

	for _, test := range []struct {
		name    string
		server  string
		options []recipes.Option
		is      func(error) bool
	}{
		{"a server of another authority is refused", addr,
			[]recipes.Option{recipes.WithTLS(newAuthority(t).client(t))},
			func(err error) bool { return errors.As(err, new(x509.UnknownAuthorityError)) }},
		{"so is one of which the system's authorities know nothing", addr,
			[]recipes.Option{recipes.WithTLS(nil)},
			func(err error) bool { return errors.As(err, new(x509.UnknownAuthorityError)) }},
		{"so is one with another's name", "other.test:2281",
			[]recipes.Option{recipes.WithTLS(ca.client(t))},
			func(err error) bool { return errors.As(err, new(x509.HostnameError)) }},
		{"a client without a certificate learns why it is refused", addr,
			[]recipes.Option{recipes.WithTLS(&tls.Config{RootCAs: ca.pool()})},
			func(err error) bool { return strings.Contains(err.Error(), "tls: ") }},
		{"a client without TLS is refused", addr, nil,
			func(err error) bool { return errors.Is(err, io.EOF) && strings.Contains(err.Error(), addr) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			dials := 0
			_, err := recipes.Connect(ctx, []string{test.server}, append(test.options,
				recipes.WithDialer(func(ctx context.Context, network, _ string) (net.Conn, error) {
					if dials++; dials == 3 { // the others have failed
						cancel(errEnough)
					}
					return new(net.Dialer).DialContext(ctx, network, addr)
				}))...)
			if !errors.Is(err, errEnough) || !test.is(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// lostBeforeAnotherHolds fails the test unless the lease is lost when the acquire succeeds.
func lostBeforeAnotherHolds(t *testing.T, l *recipes.Lease, next <-chan result) {
	t.Helper()
	other := (<-next).ok(t)
	select {
	case <-l.Lost():
	default:
		t.Error("two clients believe that they hold the lock")
	}
	release(t, other)
}

func TestConnectSaysWhyItHasNoConnection(t *testing.T) {
	endsItsGoroutines(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	nobody := loopback(freePort(t))
	_, err := recipes.Connect(ctx, []string{nobody})
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
	if want := "context deadline exceeded (last: dial tcp " + nobody + ": connect: connection refused)"; err.Error() != want {
		t.Errorf("got  %v\nwant %v", err, want)
	}
}

func TestAnAcquireWithoutASessionSaysWhyThereIsNone(t *testing.T) {
	a, ls := linked(t)
	var wire intercept
	var left atomic.Int64 // connections that may still be opened
	left.Store(1 << 30)   // on a busy machine the first may not answer in time
	c := connect(t, a, recipes.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
		if left.Load() <= 0 {
			return nil, errNoRoute
		}
		conn, err := wire.dial(ctx, network, addr)
		if err == nil {
			left.Add(-1)
		}
		return conn, err
	}))
	m := recipes.NewMutex(c, uniquePath(t))
	release(t, acquire(t, within(t), m))
	left.Store(0)
	cutAll(t, ls, links.Down)
	expire(t, &wire)
	left.Store(1) // in which the client learns that its session has expired
	healAll(t, ls)
	eventually(t, "an acquire finds no session", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := m.Acquire(ctx)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		return errors.Is(err, errNoRoute)
	})
	left.Store(1 << 30)
	release(t, acquire(t, within(t), m))
}

var (
	errNoRoute = errors.New("no route")
	errEnough  = errors.New("enough")
)

// endsItsGoroutines is leavesNoGoroutine for tests in which Connect fails: it
// returns without waiting.
func endsItsGoroutines(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		eventually(t, "all goroutines have ended", func() bool { return goleak.Find(before) == nil })
	})
}
