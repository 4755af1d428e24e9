package verify_test

import (
	"testing"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/workload/examples/mylock"
	"github.com/zkverify/zkverify/workload/verify"
)

func ExampleOwnGuarantees() {
	var shortHolds checker.OwnGuarantee // an example of package checker has one

	// func TestMyLock(t *testing.T) {
	var t *testing.T
	verify.Lock(t, mylock.Target{}, verify.OwnGuarantees(shortHolds))
	// }
}
