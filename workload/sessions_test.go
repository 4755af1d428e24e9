package workload

import (
	"testing"

	"github.com/zkverify/zkverify/workload/remote"
)

func TestPairsAreOfConcurrentTargets(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  Config
		want int
	}{
		"a fifth by default":                 {Config{Target: ours("recipes"), Clients: 10}, 2},
		"as many as asked for":               {Config{Target: ours("recipes"), Clients: 10, Pairs: 4}, 4},
		"no more than there are clients":     {Config{Target: ours("recipes"), Clients: 5, Pairs: 4}, 2},
		"none when none are asked for":       {Config{Target: ours("recipes"), Clients: 10, Pairs: -1}, 0},
		"none of a target for one at a time": {Config{Target: ours("zk-lock"), Clients: 10, Pairs: 4}, 0},
		"none in worker processes":           {Config{Target: ours("recipes"), Clients: 10, Workers: remote.Config{N: 2}}, 0},
	} {
		if got := c.cfg.pairs(); got != c.want {
			t.Errorf("%s: %d pairs; want %d", name, got, c.want)
		}
	}
}
