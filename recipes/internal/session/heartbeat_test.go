package session

import (
	"fmt"
	"testing"
)

// A beat checks a bounded number of nodes, and of more each has its turn.
func TestABeatChecksSomeOfManyNodes(t *testing.T) {
	for _, n := range []int{maxChecks + 1, 3 * maxChecks} {
		checksInTurn(t, n)
	}
}

func checksInTurn(t *testing.T, n int) {
	t.Helper()
	s := &Session{held: map[Dependent]struct{}{}, waiting: map[string]struct{}{"/waits": {}}}
	for i := range n {
		s.held[&onNodes{timed{}, []string{fmt.Sprint("/held/", i)}}] = struct{}{}
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
