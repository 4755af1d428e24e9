package verify_test

import (
	"testing"

	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload/examples/mylock"
	"github.com/zkverify/zkverify/workload/verify"
)

func ExampleOwnFaults() {
	var flapping fault.Kind // an example of package fault has one

	// func TestMyLock(t *testing.T) {
	var t *testing.T
	verify.Lock(t, mylock.Target{}, verify.OwnFaults(flapping), verify.Faults("flapping", "latency"))
	// }
}
