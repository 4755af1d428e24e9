package faults

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// members are servers that note which members are removed and added.
type members struct {
	observed
	steps []string
	add   error
}

func (m *members) CanReconfigure() bool { return true }

func (m *members) Remove(_ context.Context, id int) error {
	m.steps = append(m.steps, "remove "+fault.ServerName(id))
	return nil
}

func (m *members) Add(_ context.Context, id int) error {
	m.steps = append(m.steps, "add "+fault.ServerName(id))
	return m.add
}

func TestAReconfigurationRemovesAVoterAndAddsItAgain(t *testing.T) {
	lost := errors.New("no quorum for that")
	for name, add := range map[string]error{"it is added": nil, "it cannot be added": lost} {
		t.Run(name, func(t *testing.T) {
			m := &members{observed: withObservers(t, 3, 2), add: add}
			for draw := range uint32(20) {
				s := fault.NewScene(clockWorld{m}, "reconfig", fault.Pick{Draw: draw}, nil, true)
				s.Leader, m.steps = 2, nil
				f, err := reconfigKind().Make(s)
				if err != nil {
					t.Fatal(err)
				}
				if len(f.Servers) != 1 || f.Servers[0] > 3 {
					t.Fatalf("it hits %v", f.Servers)
				}
				if err := inTime(t.Context(), f.HealWithin, f.Start); err != nil {
					t.Error(err)
				}
				// Servers in memory are not asked over TCP: that they serve is not seen in time.
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				err = f.Stop(ctx)
				name := fault.ServerName(f.Servers[0])
				if want := []string{"remove " + name, "add " + name}; !slices.Equal(m.steps, want) || errors.Is(err, lost) != (add != nil) {
					t.Errorf("%v, %v; want %v", m.steps, err, want)
				}
			}
		})
	}
	if fault.NeedsPeers.MetBy(&members{}) || !fault.NeedsReconfig.MetBy(&members{}) || fault.NeedsReconfig.MetBy((*ensemble.Local)(nil)) {
		t.Error("members can be changed where there are links between them, or the reverse")
	}
	s := fault.NewScene(clockWorld{&members{observed: withObservers(t, 2, 1)}}, "reconfig", fault.Pick{}, nil, true)
	if f, err := reconfigKind().Make(s); err == nil {
		t.Errorf("of two servers that vote it removes %v", f.Servers)
	}
}

func TestReconfigurationsOfRealServers(t *testing.T) {
	if os.Getenv(ensembletest.Variable) != "real" {
		t.Skip("takes half a minute: make test-real runs it")
	}
	e, err := ensemble.StartLocal(t.Context(), ensemble.LocalConfig{Reconfig: true, Observers: 1, SyncLimit: 25})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, role := range []fault.Server{fault.AFollower, fault.TheLeader} {
		t.Run(string(role), func(t *testing.T) { removeAndAdd(t, e, role) })
	}
}

func removeAndAdd(t *testing.T, e *ensemble.Local, role fault.Server) {
	s := fault.NewScene(clockWorld{e}, "reconfig", fault.Pick{Server: role}, nil, true)
	var err error
	if s.Leader, err = e.Leader(t.Context()); err != nil {
		t.Fatal(err)
	}
	f, err := reconfigKind().Make(s)
	if err != nil {
		t.Fatal(err)
	}
	id := f.Servers[0]
	var others []string
	for _, server := range e.Servers() {
		if server.ID != id {
			others = append(others, server.Addr)
		}
	}
	conn := connect(t, others, 20*time.Second, net.DialTimeout)
	voters := func(want int) {
		t.Helper()
		patiently(t, func() error {
			if _, err := conn.Sync("/zookeeper/config"); err != nil {
				return err
			}
			text, _, err := conn.Get("/zookeeper/config")
			if n := strings.Count(string(text), ":participant"); err == nil && n != want {
				t.Fatalf("%d voters, want %d", n, want)
			}
			return err
		})
	}
	if err := inTime(t.Context(), f.HealWithin, f.Start); err != nil {
		t.Fatal("begins:", err)
	}
	voters(2)
	// The quorum does not need it, and it comes back although its own list of members lacks it.
	if err := e.Kill(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	path := "/without-it-" + string(role)
	patiently(t, func() error {
		_, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
		if errors.Is(err, zk.ErrNodeExists) {
			return nil // the answer was lost
		}
		return err
	})
	if err := inTime(t.Context(), f.HealWithin, f.Stop); err != nil {
		t.Fatal("heals:", err)
	}
	voters(3)
	back := connect(t, []string{e.Servers()[id-1].Addr}, 20*time.Second, net.DialTimeout)
	patiently(t, func() error {
		if _, err := back.Sync("/"); err != nil {
			return err
		}
		ok, _, err := back.Exists(path)
		if err == nil && !ok {
			t.Fatal("the server that is back does not have what was written")
		}
		return err
	})
}

// patiently repeats a request that an election may leave unanswered.
func patiently(t *testing.T, do func() error) {
	t.Helper()
	err := do()
	for end := time.Now().Add(20 * time.Second); err != nil && time.Now().Before(end); err = do() {
		wait.For(t.Context(), 50*time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
}
