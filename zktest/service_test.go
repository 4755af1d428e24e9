package zktest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

const (
	tick    = 200 * time.Millisecond
	timeout = 2 * time.Second
)

// connect returns a client of recipes with a name, which is closed before the servers.
func connect(t testing.TB, e *zktest.Ensemble, name string) *recipes.Client {
	t.Helper()
	client, err := recipes.Connect(t.Context(), e.Servers(), recipes.WithDialer(e.Client(name).DialContext),
		recipes.WithSessionTimeout(timeout), recipes.WithServerTick(tick))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(context.Background()) })
	return client
}

// acquire returns a lease of the lock at a path.
func acquire(t testing.TB, client *recipes.Client, path string) *recipes.Lease {
	t.Helper()
	lease, err := recipes.NewMutex(client, path).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// ledger is the resource that the service of the tests writes to. It refuses stale tokens.
type ledger struct {
	fence recipes.Fence

	mu      sync.Mutex
	entries []string
}

func (l *ledger) write(who string, token recipes.Token) error {
	return l.fence.Guard(token, func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.entries = append(l.entries, who)
		return nil
	})
}

// writers returns the services that have written, each once for each of its turns.
func (l *ledger) writers() (turns []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, who := range l.entries {
		if i == 0 || l.entries[i-1] != who {
			turns = append(turns, who)
		}
	}
	return turns
}

// serve is the service under test: when it has the lock it writes ten times a second until it
// loses the lock, and then waits for the lock again.
func serve(ctx context.Context, client *recipes.Client, who string, to *ledger) error {
	lock := recipes.NewMutex(client, "/ledger")
	for ctx.Err() == nil {
		if err := lock.Do(ctx, func(ctx context.Context, lease *recipes.Lease) error {
			every := time.NewTicker(100 * time.Millisecond)
			defer every.Stop()
			for {
				select {
				case <-ctx.Done():
					return nil
				case <-every.C:
				}
				if err := to.write(who, lease.Token()); err != nil {
					return fmt.Errorf("%s: %w", who, err)
				}
			}
		}); err != nil && !errors.Is(err, recipes.ErrLeaseLost) && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// background runs the service until the test ends, and fails the test if the service returns an
// error.
func background(t *testing.T, client *recipes.Client, who string, to *ledger) {
	ctx, cancel := context.WithCancel(context.Background())
	var service sync.WaitGroup
	service.Go(func() {
		if err := serve(ctx, client, who, to); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		service.Wait()
	})
}
