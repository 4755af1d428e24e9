package ensemble_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
)

func addrs(l ensemble.Ensemble) []string {
	var list []string
	for _, server := range l.Servers() {
		list = append(list, server.Addr)
	}
	return list
}

func TestAnExternalEnsembleCleansUpAfterItselfAlone(t *testing.T) {
	l, ctx := local(t), testContext(t)
	mine, err := ensemble.External(ctx, addrs(l), "run-a", ensemble.Credentials{})
	must(t, err)
	theirs, err := ensemble.External(ctx, addrs(l), "run-b", ensemble.Credentials{})
	must(t, err)
	if _, err := ensemble.External(ctx, addrs(l), "run-a", ensemble.Credentials{}); !errors.Is(err, ensemble.ErrRootExists) {
		t.Errorf("a second run of that name: %v", err)
	}
	want, _ := l.Leader(ctx)
	if got, err := mine.Leader(ctx); err != nil || got != want {
		t.Errorf("leader %d, %v, want %d", got, err, want)
	}
	if mine.Root() != "/zkverify/run-a" || mine.Version() != l.Version() || mine.TickTime() != l.TickTime() {
		t.Errorf("root %s, version %s, tick %v", mine.Root(), mine.Version(), mine.TickTime())
	}
	conn := dial(t, l.Servers()[0].Addr)
	for _, node := range []string{"/deep", "/deep/deeper", "/wide"} {
		_, err := conn.Create(mine.Root()+node, nil, 0, zk.WorldACL(zk.PermAll))
		must(t, err)
	}
	must(t, mine.Close())
	must(t, mine.Close())
	children, _, err := conn.Children("/zkverify")
	must(t, err)
	if len(children) != 1 || children[0] != "run-b" {
		t.Errorf("left under /zkverify: %v, want the other run", children)
	}
	must(t, theirs.Close())
	if _, err := conn.Sync("/"); err != nil {
		t.Fatal(err)
	}
	if exists, _, err := conn.Exists("/zkverify"); err != nil || exists {
		t.Errorf("/zkverify is still there after the last run (%v)", err)
	}
}

func TestAnExternalEnsembleBelowAChroot(t *testing.T) {
	ctx, servers := testContext(t), addrs(local(t))
	conn := dial(t, servers[0])
	last := len(servers) - 1
	servers[last] += "/app"
	if _, err := ensemble.External(ctx, servers, "run-e", ensemble.Credentials{}); !errors.Is(err, zk.ErrNoNode) || !strings.Contains(err.Error(), "the chroot /app does not exist") {
		t.Errorf("without the chroot: %v", err)
	}
	_, err := conn.Create("/app", nil, 0, zk.WorldACL(zk.PermAll))
	must(t, err)
	t.Cleanup(func() { must(t, conn.Delete("/app", -1)) }) // empty again
	e, err := ensemble.External(ctx, servers, "run-e", ensemble.Credentials{})
	must(t, err)
	if e.Root() != "/app/zkverify/run-e" || strings.Contains(e.Servers()[last].Addr, "/") {
		t.Errorf("root %s, servers %v", e.Root(), e.Servers())
	}
	if _, err := conn.Sync("/"); err != nil {
		t.Fatal(err)
	}
	if there, _, err := conn.Exists(e.Root()); err != nil || !there {
		t.Errorf("%s is there: %v, %v", e.Root(), there, err)
	}
	must(t, e.Close())
}

func TestAServerThatCannotBeReachedIsNamed(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	closed.Close()
	dead := closed.Addr().String()
	_, err = ensemble.External(testContext(t), append(addrs(local(t)), dead), "run-c", ensemble.Credentials{})
	if !errors.Is(err, ensemble.ErrUnreachable) || !strings.Contains(err.Error(), dead) || strings.Contains(err.Error(), addrs(local(t))[0]) {
		t.Fatalf("got %v", err)
	}
}

func TestAServerWithoutFourLetterCommandsIsProbedWithASession(t *testing.T) {
	addr := withoutCommands(t, local(t).Servers()[0].Addr)
	e, err := ensemble.External(testContext(t), []string{addr}, "run-d", ensemble.Credentials{})
	must(t, err)
	if e.Version() != "" || e.TickTime() != 0 {
		t.Errorf("version %q, tick %v", e.Version(), e.TickTime())
	}
	if _, err := e.Leader(testContext(t)); !errors.Is(err, ensemble.ErrUnknownLeader) {
		t.Errorf("Leader: %v", err)
	}
	must(t, e.Close())
}

// withoutCommands relays to a server, but answers four-letter commands itself, as a
// server whose whitelist lacks them.
func withoutCommands(t *testing.T, server string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer conn.Close()
				var first [4]byte
				if _, err := io.ReadFull(conn, first[:]); err != nil {
					return
				}
				if word := string(first[:]); word == "srvr" || word == "conf" {
					_, _ = io.WriteString(conn, word+" is not executed because it is not in the whitelist.\n")
					return
				}
				up, err := net.DialTimeout("tcp", server, time.Second)
				if err != nil {
					return
				}
				defer up.Close()
				_, _ = up.Write(first[:])
				conns.Go(func() { _, _ = io.Copy(conn, up); conn.Close() })
				_, _ = io.Copy(up, conn)
			})
		}
	})
	t.Cleanup(func() { listener.Close(); conns.Wait() })
	return listener.Addr().String()
}
