package locks

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// patience is --timeout where no server answers, and enough for a command to end after it: it
// closes its session, too.
const (
	patience = 500 * time.Millisecond
	enough   = patience + closeLimit + 5*time.Second
)

// endsInTime fails the test if f takes longer than enough.
func endsInTime(t *testing.T, f func()) {
	t.Helper()
	begun := time.Now()
	f()
	if took := time.Since(begun); took > enough {
		t.Errorf("it took %v", took)
	}
}

// Servers that take connections and never answer are away, also for commands that wait.
func TestCommandsEndWhenTheServersAreSilentFromTheBeginning(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) // connections wait in its queue
	for _, args := range [][]string{
		{"ls", "/l"}, {"inspect", "/l"}, {"watch", "/l"}, {"doctor", "/l"}, {"ask", "/l"}, {"break", "/l", "--token", "1", "--yes"}, {"run", "/l", "--", "true"}, {"export", "--listen", "127.0.0.1:0", "/l"},
	} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			endsInTime(t, func() {
				var out, said output
				runCommand(t, t.Context(), &Console{Out: &out, Err: &said}, append([]string{args[0], "--servers", l.Addr().String(), "--timeout", patience.String()}, args[1:]...)...).
					want(t, exitUnavailable, nil, []string{"no connection to " + l.Addr().String()})
			})
		})
	}
}

// Requests end when the servers have been away for --timeout.
func TestRequestsEndWhenTheServersGoAway(t *testing.T) {
	b := newBench(t)
	node := "/l/" + curator(1, "lock-")
	b.ephemeral(node, "a")
	f := &serversFlags{Addresses: strings.Split(b.addrs, ","), Timeout: patience}
	s, err := f.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	b.Client("operator").Cut()
	for name, request := range map[string]func() error{
		"find":    func() error { _, err := inspect.Find(t.Context(), s, []string{"/"}); return err },
		"read":    func() error { _, err := inspect.Read(t.Context(), s, "/l"); return err },
		"exists":  func() error { _, _, err := s.Exists("/l"); return err },
		"delete":  func() error { _, err := s.Multi(&zk.DeleteRequest{Path: node}); return err },
		"revoke":  func() error { return s.revoke(t.Context(), node) },
		"run":     func() error { _, err := (&runCmd{Path: "/m"}).acquire(t.Context(), s); return err },
		"observe": func() error { return s.sessions().Unasked[f.Addresses[0]] },
	} {
		t.Run(name, func(t *testing.T) {
			endsInTime(t, func() {
				err := request()
				var exit *Exit
				if err == nil || name != "observe" && !unconnected(err) && !(errors.As(err, &exit) && exit.Status == exitUnavailable) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

func TestWatchEndsWhenTheServersGoAway(t *testing.T) {
	b := newBench(t)
	b.ephemeral("/l/"+curator(1, "lock-"), "a")
	var out, said output
	ended := make(chan answer)
	go func() {
		ended <- run(t, t.Context(), b.addrs, &Console{Out: &out, Err: &said}, "watch", "--timeout", patience.String(), "--interval", "1ms", "/l")
	}()
	for !strings.Contains(out.String(), "/l ") {
		time.Sleep(time.Millisecond)
	}
	b.Client("operator").Cut()
	endsInTime(t, func() { (<-ended).want(t, exitUnavailable, nil, []string{"is lost, and was not back within 500ms"}) })
}

// The second look of doctor ends as the first one does.
func TestDoctorEndsWhenTheServersGoAwayBetweenItsLooks(t *testing.T) {
	b := newBench(t)
	b.plant("/orphan/"+curator(1, "lock-"), "", 0)
	var out, said output
	// The first look ends when doctor asks for the time.
	con := &Console{Out: &out, Err: &said, Now: func() time.Time { b.Client("operator").Cut(); return time.Now() }}
	endsInTime(t, func() {
		run(t, t.Context(), b.addrs, con, "doctor", "--timeout", patience.String(), "--observe", "1ms", "/").
			want(t, exitUnavailable, nil, []string{"is lost, and was not back within 500ms"})
	})
}

// noTickets is a mechanism without a KDC.
type noTickets struct{}

func (noTickets) Name() string { return "GSSAPI" }
func (noTickets) Start(context.Context, string) ([]byte, func([]byte) ([]byte, error), error) {
	return nil, nil, errors.New("the KDC is away")
}

// A client whose KDC is away is told when it has tried each server once.
func TestAMechanismThatGetsNoTokensEndsTheConnect(t *testing.T) {
	b := newBench(t)
	ctx, failed := context.WithCancelCause(t.Context())
	defer failed(nil)
	addresses := strings.Split(b.addrs, ",")
	m := &impatient{SASLMechanism: noTickets{}, tries: len(addresses), failed: failed}
	endsInTime(t, func() {
		if _, err := recipes.Connect(ctx, addresses, recipes.WithSASL(m)); err == nil {
			t.Error("it connects")
		}
	})
	if cause := context.Cause(ctx); !errors.Is(cause, errNoToken) || !strings.Contains(cause.Error(), "the KDC is away") || m.done.Load() < 3 {
		t.Errorf("%v after %d tries", cause, m.done.Load())
	}
}
