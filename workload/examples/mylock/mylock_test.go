package mylock_test

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/workload/examples/mylock"
	"github.com/zkverify/zkverify/workload/verify"
)

// Without faults the lock holds. Without the options this test fails, and says
// which two clients held the lock at the same time: zk.Lock never tells its holder
// that the session has ended.
func TestMyLock(t *testing.T) {
	verify.Lock(t, mylock.Target{}, verify.Faults("none"), verify.Duration(5*time.Second))
}
