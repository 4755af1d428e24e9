package zktest_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind. A test in a bubble does not even end before its goroutines
// have.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
