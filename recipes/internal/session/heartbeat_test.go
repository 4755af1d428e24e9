package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A beat checks the nodes of all leases, no matter how many, and none of waiting
// contenders.
func TestABeatChecksAllNodesOfLeases(t *testing.T) {
	s := &Session{held: map[Dependent]struct{}{}, waiting: map[string]struct{}{"/waits": {}}}
	want := map[string]bool{}
	for i := range 700 {
		on := &onNodes{}
		for j := range i % 4 {
			on.paths = append(on.paths, fmt.Sprintf("/held/%d-%d", i, j))
			want[on.paths[j]] = true
		}
		s.held[on] = struct{}{}
	}
	for _, path := range (heartbeat{s}).checkPaths() {
		if !want[path] {
			t.Errorf("%s is checked, or twice", path)
		}
		delete(want, path)
	}
	if len(want) > 0 {
		t.Errorf("%d nodes are not checked", len(want))
	}
	clear(s.held)
	if paths := (heartbeat{s}).checkPaths(); len(paths) != 1 || paths[0] != "/waits" {
		t.Errorf("without leases %v are checked", paths)
	}
}

// Every node is in one request, of at most maxChecks, and every request fits into a packet.
func TestTheChecksOfABeatFitIntoPackets(t *testing.T) {
	for _, c := range []struct{ nodes, path, packet, want int }{
		{0, 10, 1 << 20, 0},
		{1, 10, 1 << 20, 1},
		{maxChecks, 10, 1 << 20, 1},
		{maxChecks + 1, 10, 1 << 20, 2},
		{1000, 100, 1 << 20, 2},
		{1000, maxPath, 1<<20 - 1, 8}, // 127 each
		{10, 4000, 4096, 10},
		{3, maxPath, 4096, 3}, // as large as a path alone
	} {
		t.Run(fmt.Sprintf("%d nodes of %d bytes in packets of %d", c.nodes, c.path, c.packet), func(t *testing.T) {
			var paths []string
			for i := range c.nodes {
				paths = append(paths, fmt.Sprintf("/%0*d", c.path-1, i))
			}
			all := packets(paths, c.packet)
			if len(all) != c.want || !slices.Equal(slices.Concat(all...), paths) {
				t.Errorf("%d requests of %d", len(all), len(slices.Concat(all...)))
			}
			for _, one := range all {
				if size := multiSize + len(one)*checkSize + len(strings.Join(one, "")); len(one) > maxChecks || len(one) > 1 && size > c.packet {
					t.Errorf("%d checks in %d bytes", len(one), size)
				}
			}
		})
	}
}

type onNodes struct {
	timed
	paths []string
}

func (d *onNodes) Paths() []string { return d.paths }
