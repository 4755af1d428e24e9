package verify_test

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/examples/shortholds"
	"github.com/zkverify/zkverify/workload/examples/mylock"
	"github.com/zkverify/zkverify/workload/verify"
)

func ExampleOwnGuarantees() {
	// func TestMyLock(t *testing.T) {
	var t *testing.T
	verify.Lock(t, mylock.Target{}, verify.OwnGuarantees(shortholds.Guarantee(time.Second)))
	// }
}
