package session

import (
	"fmt"
	"testing"
)

// A beat checks a bounded number of nodes, and of more each has its turn: of many leases, and of
// one on many permits.
func TestABeatChecksSomeOfManyNodes(t *testing.T) {
	for _, n := range []int{maxChecks + 1, 3 * maxChecks} {
		checksInTurn(t, n, 1)
		checksInTurn(t, 1, n)
		checksInTurn(t, 3, n)
	}
}

func checksInTurn(t *testing.T, leases, nodes int) {
	t.Helper()
	s := &Session{held: map[Dependent]struct{}{}, waiting: map[string]struct{}{"/waits": {}}}
	n := leases * nodes
	for i := range leases {
		on := &onNodes{}
		for j := range nodes {
			on.paths = append(on.paths, fmt.Sprintf("/held/%d-%d", i, j))
		}
		s.held[on] = struct{}{}
	}
	seen := map[string]bool{}
	for beats := 0; len(seen) < n; beats++ {
		paths := heartbeat{s}.checkPaths()
		if len(paths) != maxChecks {
			t.Fatalf("a beat checks %d nodes of %d", len(paths), n)
		}
		for _, p := range paths {
			seen[p] = true
		}
		if beats > 1000 {
			t.Fatalf("after %d beats %d of %d nodes have been checked", beats, len(seen), n)
		}
	}
	if seen["/waits"] {
		t.Error("the node of one who waits is checked, and there are leases")
	}
	clear(s.held)
	if paths := (heartbeat{s}).checkPaths(); len(paths) != 1 || paths[0] != "/waits" {
		t.Errorf("without leases %v are checked", paths)
	}
}

type onNodes struct {
	timed
	paths []string
}

func (d *onNodes) Paths() []string { return d.paths }
