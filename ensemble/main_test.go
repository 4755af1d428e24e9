package ensemble_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/ensemble/links"
)

// shared is an ensemble for tests that leave it unchanged.
var shared struct {
	once    sync.Once
	network links.Network
	local   *ensemble.Local
	err     error
}

func TestMain(m *testing.M) {
	if os.Getenv(parentEnv) != "" {
		beParent()
		return
	}
	if os.Getenv(brieflyEnv) != "" {
		serveBriefly()
		return
	}
	flag.Parse()
	end := func() {}
	if !testing.Short() {
		var err error
		if end, err = ensembletest.TakeTurn(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	code := m.Run()
	end()
	if shared.local != nil {
		if err := errors.Join(shared.local.Close(), shared.local.Close(), shared.network.Close()); err != nil {
			fmt.Println("Close:", err)
			code = 1
		}
		for id := range 3 {
			if shared.local.Running(id + 1) {
				fmt.Println("a server lives on after Close")
				code = 1
			}
		}
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Println(err)
		code = 1
	}
	os.Exit(code)
}

func local(t *testing.T) *ensemble.Local {
	t.Helper()
	needsServers(t)
	shared.once.Do(func() {
		if shared.network, shared.err = links.InProcess(); shared.err != nil {
			return
		}
		shared.local, shared.err = ensemble.StartLocal(context.Background(), ensemble.LocalConfig{Peers: shared.network})
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.local
}

// needsServers skips the test under -short, which excludes servers.
func needsServers(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs real servers")
	}
}

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually polls until holds returns true.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within the time: " + what)
		}
	}
}

// leaderOtherThan waits until a server other than the given one leads.
func leaderOtherThan(t *testing.T, l *ensemble.Local, old int) int {
	t.Helper()
	var id int
	eventually(t, "another server leads", func() bool {
		var err error
		id, err = l.Leader(t.Context())
		return err == nil && id != old
	})
	return id
}

// dial opens a ZooKeeper session through one server.
func dial(t *testing.T, addr string) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect([]string{addr}, 5*time.Second, zk.WithLogger(silent{}))
	must(t, err)
	t.Cleanup(conn.Close)
	for deadline := time.After(20 * time.Second); ; {
		select {
		case event := <-events:
			if event.State == zk.StateHasSession {
				return conn
			}
		case <-deadline:
			t.Fatal("no session with " + addr)
		}
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}
