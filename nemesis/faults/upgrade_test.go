package faults

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// renamed are simulated servers that claim to have another version to run. They always run the
// same one.
type renamed struct {
	*simulated.Ensemble
	refuses int // the server that does not start as the other version

	mu       sync.Mutex
	upgraded map[int]bool
	steps    []string
}

func (r *renamed) CanUpgrade() bool     { return true }
func (r *renamed) OtherVersion() string { return "3.9.6" }

func (r *renamed) Upgraded(id int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.upgraded[id]
}

func (r *renamed) runAs(ctx context.Context, id int, upgraded bool) error {
	leader, _ := r.Leader(ctx) // 0 if there is none now
	step := fault.ServerName(id)
	if leader == id {
		step = "the leader"
	}
	r.mu.Lock()
	r.upgraded[id] = upgraded
	r.steps = append(r.steps, step)
	r.mu.Unlock()
	if upgraded && id == r.refuses {
		return errors.Join(r.Kill(ctx, id), ensemble.ErrServerDied)
	}
	return r.Restart(ctx, id)
}

func (r *renamed) Upgrade(ctx context.Context, id int) error   { return r.runAs(ctx, id, true) }
func (r *renamed) Downgrade(ctx context.Context, id int) error { return r.runAs(ctx, id, false) }

// restarted returns the restarts since the last call.
func (r *renamed) restarted() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	steps := r.steps
	r.steps = nil
	return steps
}

func upgradeOf(t *testing.T, e ensemble.Ensemble) fault.Fault {
	t.Helper()
	leader, err := e.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f, err := upgradeKind().Make(fault.Scene{World: clockWorld{e}, Leader: leader, Rand: rand.New(rand.NewPCG(1, 1))})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// leadsInTheMiddle makes server 2 the leader: after the start server 3 leads.
func leadsInTheMiddle(t *testing.T, servers *simulated.Ensemble) {
	t.Helper()
	for leader := 0; leader != 2; {
		for _, id := range []int{1, 3} {
			if err := servers.Kill(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		if err := servers.Restart(t.Context(), 1); err != nil { // 2 has the higher number
			t.Fatal(err)
		}
		if err := servers.Restart(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		leader, _ = servers.Leader(t.Context())
	}
}

func TestAnUpgradeTakesTheLeaderLastAndIsUndone(t *testing.T) {
	for name, refuses := range map[string]bool{"all servers start": false, "a server refuses to start as the other version": true} {
		t.Run(name, func(t *testing.T) {
			servers, err := simulated.Start(t.Context(), ensemble.LocalConfig{})
			if err != nil {
				t.Fatal(err)
			}
			defer servers.Close()
			leadsInTheMiddle(t, servers)
			r := &renamed{Ensemble: servers, upgraded: map[int]bool{}}
			f := upgradeOf(t, r)
			if len(f.Servers) != 3 || f.Params["from"] != servers.Version() || f.Params["to"] != "3.9.6" {
				t.Fatalf("it hits %v, with %v", f.Servers, f.Params)
			}
			if refuses {
				r.refuses = f.Servers[1]
			}
			err = inTime(t.Context(), f.HealWithin, f.Start)
			if refuses != errors.Is(err, ensemble.ErrServerDied) || !refuses && err != nil {
				t.Error("begins:", err)
			}
			steps := r.restarted()
			if !refuses && (len(steps) != 3 || slices.Index(steps, "the leader") != 2) || refuses && len(steps) != 2 {
				t.Errorf("upgraded were %v; want the leader last", steps)
			}
			if err := inTime(t.Context(), f.HealWithin, f.Stop); err != nil {
				t.Error("heals:", err)
			}
			if back := r.restarted(); len(back) != len(steps) || !refuses && slices.Index(back, "the leader") != 2 {
				t.Errorf("downgraded were %v; want %d, the leader last", back, len(steps))
			}
			for _, s := range servers.Servers() {
				if status, _, err := ensemble.AskStatus(t.Context(), s); r.Upgraded(s.ID) || err != nil || !status.Serving() {
					t.Errorf("server %d: upgraded %v, %+v, %v; want it to serve as before", s.ID, r.Upgraded(s.ID), status, err)
				}
			}
		})
	}
}

func TestServersThatRunOneVersionAreNotUpgraded(t *testing.T) {
	kind := upgradeKind()
	for _, e := range []ensemble.Ensemble{(*ensemble.Local)(nil), (*simulated.Ensemble)(nil), (*ensemble.Ext)(nil)} {
		if kind.Needs.MetBy(e) {
			t.Errorf("%T: can be upgraded", e)
		}
	}
	if !kind.Needs.MetBy(&renamed{}) {
		t.Error("what can be upgraded is not")
	}
}

// Every pair of available versions, there and back.
func TestUpgradesOfRealServers(t *testing.T) {
	if os.Getenv(ensembletest.Variable) != "real" {
		t.Skip("takes a minute: make test-real runs it")
	}
	versions := ensemble.Installations()
	if len(versions) < 2 {
		t.Skip("needs two versions of ZooKeeper: ensemble/install.sh --zookeeper installs another")
	}
	for _, from := range versions {
		for _, to := range versions {
			if from.Version != to.Version {
				t.Run(from.Version+" to "+to.Version, func(t *testing.T) { upgradeThereAndBack(t, from.Version, to.Version) })
			}
		}
	}
}

func upgradeThereAndBack(t *testing.T, from, to string) {
	e, err := ensemble.StartLocal(t.Context(), ensemble.LocalConfig{ZooKeeper: from, UpgradeTo: to})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	write := func(path string) {
		t.Helper()
		conn := connect(t, []string{e.Servers()[0].Addr}, 20*time.Second, net.DialTimeout)
		if _, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	have := func(version string, paths ...string) {
		t.Helper()
		for _, s := range e.Servers() {
			status, _, err := ensemble.AskStatus(t.Context(), s)
			if err != nil || status.Version != version || !status.Serving() {
				t.Errorf("server %d: %+v, %v; want %s", s.ID, status, err, version)
			}
			there := connect(t, []string{s.Addr}, 20*time.Second, net.DialTimeout)
			if _, err := there.Sync("/"); err != nil {
				t.Error(err)
			}
			for _, path := range paths {
				if ok, _, err := there.Exists(path); err != nil || !ok {
					t.Errorf("server %d as %s has %s: %v, %v", s.ID, version, path, ok, err)
				}
			}
		}
	}
	write("/before")
	f := upgradeOf(t, e)
	if err := inTime(t.Context(), f.HealWithin, f.Start); err != nil {
		t.Fatal("begins:", err)
	}
	write("/meanwhile")
	have(to, "/before", "/meanwhile")
	if err := inTime(t.Context(), f.HealWithin, f.Stop); err != nil {
		t.Fatal("heals:", err)
	}
	write("/after")
	have(from, "/before", "/meanwhile", "/after")
}
