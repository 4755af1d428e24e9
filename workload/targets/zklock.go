package targets

import "github.com/zkverify/zkverify/workload/examples/mylock"

// zkLockTarget is go-zookeeper's own zk.Lock, used as its documentation says. It is known to be
// unsafe: its holder is never told that its session ended, and a contender whose node is gone
// takes itself for the lowest.
type zkLockTarget struct{ mylock.Target }

func (zkLockTarget) Name() string { return "zk-lock" }
func (zkLockTarget) Description() string {
	return "go-zookeeper's zk.Lock: no tokens, never tells of a loss"
}
