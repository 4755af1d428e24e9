package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

func TestAServersErrorIsToldByNameAndNumber(t *testing.T) {
	for code, want := range map[int]struct {
		name  string
		known error
	}{
		-6: {"Unimplemented", nil}, -102: {"NoAuth", zk.ErrNoAuth}, -114: {"InvalidAcl", zk.ErrInvalidACL}, -120: {"EphemeralOnLocalSession", nil},
		-124: {"SessionClosedRequireSaslAuth", nil}, -125: {"QuotaExceeded", nil}, -99: {"", nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := zktest.Start(t)
			c := bubbleClient(t, e, "client")
			for _, op := range []zktest.Operation{zktest.OpCreate, zktest.OpMulti, zktest.OpPart} {
				e.Client("client").Answer(op, code)
			}
			for _, acquire := range []func(context.Context) error{
				func(ctx context.Context) error { _, err := recipes.NewMutex(c, "/lock").Acquire(ctx); return err },
				func(ctx context.Context) error {
					_, err := recipes.NewMultiLock(recipes.NewMutex(c, "/lock")).Acquire(ctx)
					return err
				},
			} {
				err := acquire(t.Context())
				var answer *recipes.ServerError
				if !errors.As(err, &answer) || int(answer.Code) != code || answer.Name != want.name || want.known != nil && !errors.Is(err, want.known) {
					t.Errorf("%d: %v", code, err)
				}
				if text := err.Error(); !strings.Contains(text, want.name) || !strings.Contains(text, answer.Error()) {
					t.Errorf("%d: the text is %q", code, text)
				}
			}
		})
	}
}

// An overloaded server puts a request off: the client repeats it, and the caller is not told.
func TestARequestThatIsPutOffIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		c := bubbleClient(t, e, "client")
		for _, op := range []zktest.Operation{zktest.OpCreate, zktest.OpGetChildren, zktest.OpDelete} {
			e.Client("client").Answer(op, throttledOp)
			time.AfterFunc(time.Second, func() { e.Client("client").Answer(op, 0) })
			began := time.Now()
			l, err := recipes.NewMutex(c, fmt.Sprintf("/lock-%d", op)).Acquire(t.Context())
			if err == nil {
				err = l.Release(t.Context())
			}
			if took := time.Since(began); err != nil || took < time.Second || took > 4*time.Second {
				t.Errorf("operation %d: %v after %v", op, err, took)
			}
		}
	})
}

// A lease is kept although heartbeats are put off now and then.
func TestALeaseOutlivesHeartbeatsThatArePutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		c := bubbleClient(t, e, "client")
		l, err := recipes.NewMutex(c, "/lock").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			for _, op := range []zktest.Operation{zktest.OpSync, zktest.OpMulti} {
				e.Client("client").Answer(op, throttledOp)
				time.Sleep(300 * time.Millisecond)
				e.Client("client").Answer(op, 0)
				time.Sleep(time.Second)
			}
		}
		if err := l.Err(); err != nil {
			t.Error(err)
		}
	})
}

// When a server answers that the session is used elsewhere, the client continues it at another
// server.
func TestAConnectionWhoseSessionHasMovedIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		var mu sync.Mutex
		var states []recipes.ConnectionState
		c := bubbleClient(t, e, "client", recipes.WithConnectionListener(func(s recipes.ConnectionState) {
			mu.Lock()
			defer mu.Unlock()
			states = append(states, s)
		}))
		m := recipes.NewMutex(c, "/lock")
		before, session := e.Client("client").Server(), c.SessionID()
		e.Client("client").Answer(zktest.OpCreate, movedCode)
		time.AfterFunc(10*time.Millisecond, func() { e.Client("client").Answer(zktest.OpCreate, 0) })
		if _, err := m.Acquire(t.Context()); err != nil {
			t.Error(err)
		}
		if after := e.Client("client").Server(); after == before {
			t.Errorf("it is still at server %d", after)
		}
		mu.Lock()
		defer mu.Unlock()
		if c.SessionID() != session || len(states) < 3 || states[1] != recipes.ConnSuspended || states[2] != recipes.ConnReconnected {
			t.Errorf("the listener is told %v", states)
		}
	})
}

// Servers that do not know containers get persistent parents. Other leases of the client stay.
func TestParentsWhereServersHaveNoContainers(t *testing.T) {
	for name, code := range map[string]int{"they say so": -6, "they hang up": zktest.HangUp} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := zktest.Start(t)
				c := bubbleClient(t, e, "client")
				other, err := recipes.NewMutex(c, "/other").Acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				e.Client("client").Answer(zktest.OpCreateContainer, code)
				for _, path := range []string{"/a/b/lock", "/c/d/lock"} {
					l, err := recipes.NewMutex(c, path).Acquire(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if err := l.Release(t.Context()); err != nil {
						t.Error(err)
					}
				}
				time.Sleep(5 * time.Minute)
				if err := other.Err(); err != nil {
					t.Errorf("the other lease: %v", err)
				}
				if _, there := e.Node("/a/b/lock"); !there {
					t.Error("the parents were containers")
				}
			})
		})
	}
}

// Servers that answer only authenticated clients say so when a client connects.
func TestServersThatDemandAuthenticationSaySo(t *testing.T) {
	for name, options := range map[string][]recipes.Option{
		"a client that does not": nil, "a client by another scheme": {recipes.WithAuth("digest", []byte("ann:secret"))},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := zktest.Start(t)
				for _, op := range zktest.Operations() {
					e.Client("client").Answer(op, -124)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err := recipes.Connect(ctx, e.Servers(), append(options, recipes.WithDialer(e.Client("client").DialContext))...)
				var answer *recipes.ServerError
				if !errors.As(err, &answer) || answer.Code != -124 || ctx.Err() != nil {
					t.Errorf("Connect returns %v", err)
				}
			})
		})
	}
}

// Servers may begin to demand authentication while a client is connected.
func TestACallSaysThatServersDemandAuthentication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		c := bubbleClient(t, e, "client")
		for _, op := range zktest.Operations() {
			e.Client("client").Answer(op, -124)
		}
		_, err := recipes.NewMutex(c, "/lock").Acquire(t.Context())
		var answer *recipes.ServerError
		if !errors.As(err, &answer) || answer.Code != -124 {
			t.Errorf("Acquire returns %v", err)
		}
	})
}
