package recipes_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// serverCalls holds the calls that wait for servers, for a client that holds a lock already.
var serverCalls = map[string]func(ctx context.Context, c *recipes.Client, held *recipes.Lease) error{
	"Mutex.Acquire": func(ctx context.Context, c *recipes.Client, _ *recipes.Lease) error {
		_, err := recipes.NewMutex(c, "/l").Acquire(ctx)
		return err
	},
	"Mutex.TryAcquire": func(ctx context.Context, c *recipes.Client, _ *recipes.Lease) error {
		_, err := recipes.NewMutex(c, "/l").TryAcquire(ctx)
		return err
	},
	"Mutex.Do": func(ctx context.Context, c *recipes.Client, _ *recipes.Lease) error {
		return recipes.NewMutex(c, "/l").Do(ctx, func(context.Context, *recipes.Lease) error { return nil })
	},
	"Mutex.Participants": func(ctx context.Context, c *recipes.Client, _ *recipes.Lease) error {
		_, err := recipes.NewMutex(c, "/l").Participants(ctx)
		return err
	},
	"Mutex with local hand-off": func(ctx context.Context, c *recipes.Client, _ *recipes.Lease) error {
		_, err := recipes.NewMutex(c, "/l", recipes.WithLocalHandoff(2)).Acquire(ctx)
		return err
	},
	"NonReentrantMutex.Acquire": func(ctx context.Context, c *recipes.Client, _ *recipes.Lease) error {
		_, err := recipes.NewNonReentrantMutex(c, "/l").Acquire(ctx)
		return err
	},
	"ReadWriteMutex.Acquire": func(ctx context.Context, c *recipes.Client, _ *recipes.Lease) error {
		_, err := recipes.NewReadWriteMutex(c, "/l").Read().Acquire(ctx)
		return err
	},
	"Semaphore.Acquire": func(ctx context.Context, c *recipes.Client, _ *recipes.Lease) error {
		_, err := recipes.NewSemaphore(c, "/l", 2).Acquire(ctx)
		return err
	},
	"MultiLock.Acquire": func(ctx context.Context, c *recipes.Client, _ *recipes.Lease) error {
		_, err := recipes.NewMultiLock(recipes.NewMutex(c, "/a"), recipes.NewMutex(c, "/b")).Acquire(ctx)
		return err
	},
	"Election.Campaign": func(ctx context.Context, c *recipes.Client, _ *recipes.Lease) error {
		_, err := recipes.NewElection(c, "/l").Campaign(ctx)
		return err
	},
	"Election.Leader": func(ctx context.Context, c *recipes.Client, _ *recipes.Lease) error {
		_, err := recipes.NewElection(c, "/l").Leader(ctx)
		return err
	},
	"Election.Observe": func(ctx context.Context, c *recipes.Client, _ *recipes.Lease) error {
		for _, err := range recipes.NewElection(c, "/l").Observe(ctx) {
			return err
		}
		return nil
	},
	"Barrier.Set": func(ctx context.Context, c *recipes.Client, _ *recipes.Lease) error {
		return recipes.NewBarrier(c, "/l").Set(ctx)
	},
	"Barrier.Wait": func(ctx context.Context, c *recipes.Client, _ *recipes.Lease) error {
		return recipes.NewBarrier(c, "/l").Wait(ctx)
	},
	"DoubleBarrier.Enter": func(ctx context.Context, c *recipes.Client, _ *recipes.Lease) error {
		return recipes.NewDoubleBarrier(c, "/l", 2).Enter(ctx)
	},
	"SharedCount.Get": func(ctx context.Context, c *recipes.Client, _ *recipes.Lease) error {
		_, err := recipes.NewSharedCount(c, "/l", 1).Get(ctx)
		return err
	},
	"Client.Revoke": func(ctx context.Context, c *recipes.Client, held *recipes.Lease) error {
		return c.Revoke(ctx, held.Node())
	},
	"Lease.Release": func(ctx context.Context, _ *recipes.Client, held *recipes.Lease) error { return held.Release(ctx) },
}

// The error of a call that ends for want of a connection gives the reason, and still wraps the
// cause of its context.
func TestACallWithoutAConnectionSaysWhyThereIsNone(t *testing.T) {
	errExpired := errors.New("tls: certificate has expired")
	for name, cut := range map[string]struct {
		broken func(*zktest.Ensemble, *atomic.Bool) // whether dials fail
		is     error
		says   string
	}{
		"dials fail":             {func(e *zktest.Ensemble, broken *atomic.Bool) { broken.Store(true); e.Client("one").Disconnect() }, errExpired, "(last: "},
		"servers take no client": {func(e *zktest.Ensemble, _ *atomic.Bool) { e.Kill(1); e.Kill(2) }, io.EOF, "closed the connection without an answer"},
		"servers do not answer":  {func(e *zktest.Ensemble, _ *atomic.Bool) { e.Client("one").Cut() }, nil, "(last: "},
	} {
		for call, wait := range serverCalls {
			t.Run(name+", "+call, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := zktest.Start(t)
					var broken atomic.Bool
					c := bubbleClient(t, e, "one", recipes.WithSessionTimeout(8*time.Second), recipes.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
						if broken.Load() {
							return nil, errExpired
						}
						return e.Client("one").DialContext(ctx, network, addr)
					}))
					held := acquire(t, t.Context(), recipes.NewMutex(c, "/held"))
					cut.broken(e, &broken)
					time.Sleep(3 * time.Second)
					ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
					defer cancel()
					err := wait(ctx, c, held)
					if !errors.Is(err, context.DeadlineExceeded) || cut.is != nil && !errors.Is(err, cut.is) || !strings.Contains(err.Error(), cut.says) {
						t.Errorf("it says %v", err)
					}
					if strings.Count(err.Error(), "(last: ") != 1 {
						t.Errorf("it says so more than once: %v", err)
					}
				})
			})
		}
	}
}

// The error of a call that ends although there is a connection does not mention connections.
func TestACallThatWaitsForOthersSaysNothingOfConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		acquire(t, t.Context(), recipes.NewMutex(bubbleClient(t, e, "holder"), "/l"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := recipes.NewMutex(bubbleClient(t, e, "serverCalls"), "/l").Acquire(ctx)
		if err == nil || err.Error() != "acquire /l: context deadline exceeded" {
			t.Errorf("it says %v", err)
		}
	})
}

// A TLS client at a port without TLS, and the reverse, with the answers of ZooKeeper's servers.
func TestTLSAndNoTLSGetAHint(t *testing.T) {
	for name, test := range map[string]struct {
		serve   func(net.Conn)
		options []recipes.Option
		says    string
	}{
		"a port without TLS closes":              {func(c net.Conn) { _, _ = io.ReadFull(c, make([]byte, 4)) }, []recipes.Option{recipes.WithTLS(nil)}, "a port without TLS, the clientPort?"},
		"a port without TLS says something else": {func(c net.Conn) { _, _ = c.Write([]byte("imok, but what is this?")) }, []recipes.Option{recipes.WithTLS(nil)}, "a port without TLS, the clientPort?"},
		"a port of TLS closes":                   {func(c net.Conn) { readsRequest(c) }, nil, "speaks TLS alone, see WithTLS"},
		"a port of TLS says so":                  {func(c net.Conn) { _ = tls.Server(c, new(tls.Config)).Handshake() }, nil, "WithTLS"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			_, err := recipes.Connect(ctx, []string{listening(t, test.serve)}, test.options...)
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("it says %v", err)
			}
		})
	}
}
