package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// steered is DIGEST-MD5 with a hook before it. The hook gets the server, and Start returns its
// error.
type steered struct {
	recipes.SASLMechanism
	hook func(server string) error
}

func (s steered) Start(ctx context.Context, server string) ([]byte, func([]byte) ([]byte, error), error) {
	if err := s.hook(server); err != nil {
		return nil, nil, err
	}
	return s.SASLMechanism.Start(ctx, server)
}

func app(hook func(server string) error) recipes.Option {
	return recipes.WithSASL(steered{recipes.DigestMD5("app", "secret"), hook})
}

func saslEnsemble(t *testing.T, servers int) *zktest.Ensemble {
	t.Helper()
	return zktest.Start(t, zktest.Servers(servers), zktest.SASL(map[string]string{"app": "secret"}, true))
}

// The servers count the session timeout from the start or the resumption of the session, possibly
// from the moment when the connect request is sent; the time that SASL takes afterwards counts.
func TestALeaseIsCountedFromTheConnectRequestWhateverSASLTakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const timeout, takes = 6 * time.Second, 1900 * time.Millisecond // of the 2 s that a handshake may take
		e := saslEnsemble(t, 1)
		var dialed time.Time
		c := bubbleClient(t, e, "slow", recipes.WithSessionTimeout(timeout), app(func(string) error { time.Sleep(takes); return nil }),
			recipes.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
				dialed = time.Now()
				return e.Client("slow").DialContext(ctx, network, addr)
			}))
		if passed := time.Since(dialed); passed < takes {
			t.Fatalf("there was a session after %v", passed)
		}
		l := acquire(t, t.Context(), recipes.NewMutex(c, "/a"))
		if ends := l.Deadline().Sub(dialed); ends > timeout {
			t.Errorf("the deadline is %v after the connection was made, and the session timeout is %v", ends, timeout)
		}
		for c.SessionID() != 0 && l.Valid() { // a slow authentication at each server must not lose a lease
			if time.Since(dialed) > 20*timeout {
				return
			}
			time.Sleep(time.Second)
		}
		t.Errorf("the lease was lost after %v: %v", time.Since(dialed), l.Err())
	})
}

var (
	errUnknownUser = fmt.Errorf("%w: there is no such user", zk.ErrAuthFailed)
	errKDCAway     = errors.New("the KDC is away")
)

// One of several servers refuses the client, and the others may accept it.
func TestConnectTriesEveryServerThatMayTakeTheClient(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		of   [3]error // the error of each server's authentication
		want error    // of Connect
	}{
		"one refuses":                    {[3]error{errUnknownUser, nil, nil}, nil},
		"two refuse":                     {[3]error{errUnknownUser, errUnknownUser, nil}, nil},
		"one refuses, one is away":       {[3]error{errUnknownUser, errKDCAway, nil}, nil},
		"all refuse":                     {[3]error{errUnknownUser, errUnknownUser, errUnknownUser}, zk.ErrAuthFailed},
		"some refuse, the other is away": {[3]error{errUnknownUser, errUnknownUser, errKDCAway}, zk.ErrAuthFailed},
		"all are away":                   {[3]error{errKDCAway, errKDCAway, errKDCAway}, context.DeadlineExceeded},
	} {
		for range 5 { // the order of the servers is random
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := saslEnsemble(t, 3)
					servers := e.Servers()
					var mu sync.Mutex
					tried := make(map[string]int)
					begun := time.Now()
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					c, err := recipes.Connect(ctx, servers, recipes.WithDialer(e.Client("one").DialContext), app(func(server string) error {
						mu.Lock()
						defer mu.Unlock()
						tried[server]++
						for i, s := range servers {
							if s == server {
								return test.of[i]
							}
						}
						return nil
					}))
					if err == nil {
						defer c.Close(context.Background())
						release(t, acquire(t, t.Context(), recipes.NewMutex(c, "/a")))
					}
					took := time.Since(begun)
					time.Sleep(time.Minute) // the goroutines of a Connect that gave up end
					if !errors.Is(err, test.want) {
						t.Fatalf("%v, want %v", err, test.want)
					}
					if test.want == zk.ErrAuthFailed && (took > 2*time.Second || len(tried) < 3) {
						t.Errorf("it gave up after %v and %v", took, tried)
					}
					for i, server := range servers {
						if err != nil && (!strings.Contains(err.Error(), server+": ") || !strings.Contains(err.Error(), test.of[i].Error())) {
							t.Errorf("it does not say of %s: %v", server, test.of[i])
						}
					}
				})
			})
		}
	}
}

// A client that the servers begin to refuse keeps its session until its leases end, and then lets
// the servers expire it. Its calls return the reason at once, and it connects again when the
// servers accept it again.
func TestARefusedClientKeepsItsSessionAsLongAsItLasts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const timeout = 6 * time.Second
		e := saslEnsemble(t, 3)
		var mu sync.Mutex
		var refusal error
		set := func(err error) { mu.Lock(); defer mu.Unlock(); refusal = err }
		c := bubbleClient(t, e, "one", recipes.WithSessionTimeout(timeout), app(func(string) error { mu.Lock(); defer mu.Unlock(); return refusal }))
		l := acquire(t, t.Context(), recipes.NewMutex(c, "/a"))
		set(errUnknownUser)
		e.Client("one").Disconnect()
		time.Sleep(timeout / 3)
		if !l.Valid() {
			t.Errorf("the lease was lost: %v", l.Err())
		}
		<-l.Lost()
		time.Sleep(2 * timeout)
		if left := e.Children("/a"); len(left) > 0 {
			t.Errorf("the servers keep %v", left)
		}
		begun := time.Now()
		_, err := recipes.NewMutex(c, "/a").Acquire(t.Context())
		if !errors.Is(err, zk.ErrAuthFailed) || time.Since(begun) > time.Second {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		set(nil)
		time.Sleep(timeout)
		release(t, acquire(t, t.Context(), recipes.NewMutex(c, "/a")))
	})
}

// Simulated servers refuse the same credentials as real ones, in virtual time.
func TestSimulatedServersCheckSASL(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options []recipes.Option
		says    string
	}{
		"a wrong password":      {[]recipes.Option{recipes.WithSASL(recipes.DigestMD5("app", "wrong"))}, "-124"},
		"no SASL of the client": {nil, "demands an authentication"},
		"another scheme":        {[]recipes.Option{recipes.WithAuth("digest", []byte("app:secret"))}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := saslEnsemble(t, 3)
				c, err := recipes.Connect(t.Context(), e.Servers(), append(test.options, recipes.WithDialer(e.Client("one").DialContext))...)
				if err == nil {
					defer c.Close(context.Background())
					_, err = recipes.NewMutex(c, "/a").Acquire(t.Context())
				}
				if !errors.Is(err, zk.ErrAuthFailed) || !strings.Contains(err.Error(), test.says) {
					t.Error(err)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		_, err := recipes.Connect(t.Context(), e.Servers(), recipes.WithDialer(e.Client("one").DialContext), app(func(string) error { return nil }))
		if !errors.Is(err, zk.ErrAuthFailed) || !strings.Contains(err.Error(), "the server has no SASL") {
			t.Error(err)
		}
	})
}
