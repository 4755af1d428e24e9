package verify_test

import (
	"testing"

	"github.com/zkverify/zkverify/nemesis/examples/flapping"
	"github.com/zkverify/zkverify/workload/examples/mylock"
	"github.com/zkverify/zkverify/workload/verify"
)

func ExampleOwnFaults() {
	// func TestMyLock(t *testing.T) {
	var t *testing.T
	verify.Lock(t, mylock.Target{}, verify.OwnFaults(flapping.Kind()), verify.Faults("flapping", "latency"))
	// }
}
