package zktest_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind; those in a bubble could not end.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
