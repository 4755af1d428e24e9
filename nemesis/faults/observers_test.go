package faults

import (
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// observed are simulated servers of which the last report that they are observers.
type observed struct {
	*simulated.Ensemble
	voters int
}

func (o observed) Servers() []ensemble.Server {
	all := o.Ensemble.Servers()
	for i := range all {
		all[i].Observer = i >= o.voters
	}
	return all
}

func withObservers(t *testing.T, voters, observers int) observed {
	t.Helper()
	e, err := simulated.InMemory(ensemble.LocalConfig{Servers: voters + observers}, simulated.Memory{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return observed{e, voters}
}

func TestFaultsCountServersThatVote(t *testing.T) {
	for _, voters := range []int{3, 5} {
		e := withObservers(t, voters, 2)
		votes := func(ids []int) (n int) {
			for _, id := range ids {
				if id <= voters {
					n++
				}
			}
			return n
		}
		hit := make(map[string]map[string]bool) // the roles that each kind has hit
		for draw := range uint32(60) {
			for _, kind := range List() {
				if !kind.OfServers() || !kind.Needs.MetBy(e) {
					continue
				}
				s := fault.NewScene(clockWorld{e}, kind.Name, fault.Pick{Draw: draw}, nil, true)
				s.Leader = 2
				f, err := kind.Make(s)
				if err != nil {
					continue // no client holds a lock
				}
				if hit[kind.Name] == nil {
					hit[kind.Name] = make(map[string]bool)
				}
				hit[kind.Name][f.Params["role"]] = true
				switch kind.Name {
				case "lose-quorum":
					if len(f.Servers) != voters/2+1 || votes(f.Servers) != len(f.Servers) {
						t.Errorf("%s of %d voters hits %v", kind.Name, voters, f.Servers)
					}
				case "partition":
					if n := votes(f.Servers); n != (voters-1)/2 || len(f.Servers) > n+1 {
						t.Errorf("%s of %d voters cuts off %v", kind.Name, voters, f.Servers)
					}
				case "bridge", "one-way":
					id, _ := strings.CutPrefix(f.Params["bridge"]+f.Params["follower"], "server ")
					if id == "2" || votes([]int{int(id[0] - '0')}) == 0 {
						t.Errorf("%s of %d voters has server %s as its follower", kind.Name, voters, id)
					}
				case "isolate-leader", "kill-leader":
					if !slices.Equal(f.Servers, []int{2}) {
						t.Errorf("%s hits %v", kind.Name, f.Servers)
					}
				case "cut-quorum", "slow-peers", "rolling-restart":
					if len(f.Servers) != voters+2 {
						t.Errorf("%s hits %v", kind.Name, f.Servers)
					}
				}
			}
		}
		for _, name := range []string{"kill-server", "isolate-server", "restart-server", "partition"} {
			for _, role := range []string{"leader", "follower", "observer"} {
				if !hit[name][role] {
					t.Errorf("%d voters: %s has hit no %s: %v", voters, name, role, hit[name])
				}
			}
		}
	}
}

func TestAScheduleMayNameAnObserver(t *testing.T) {
	e := withObservers(t, 3, 1)
	server := func(e ensemble.Ensemble, who fault.Server) (int, error) {
		s := fault.NewScene(clockWorld{e}, "kill-server", fault.Pick{Server: who, Draw: 3}, nil, true)
		s.Leader = 3
		return s.Server()
	}
	if id, err := server(e, fault.AnObserver); err != nil || id != 4 {
		t.Errorf("an observer: server %d, %v; want 4", id, err)
	}
	if id, err := server(e, fault.AFollower); err != nil || id == 3 || id == 4 {
		t.Errorf("a follower: server %d, %v", id, err)
	}
	if id, err := server(withObservers(t, 3, 0), fault.AnObserver); err == nil {
		t.Errorf("without observers: server %d", id)
	}
	if err := fault.AnObserver.Check(); err != nil {
		t.Error(err)
	}
}
