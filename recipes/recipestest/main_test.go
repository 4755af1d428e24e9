package recipestest_test

import (
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inBothTimes runs a test inside and outside of a bubble.
func inBothTimes(t *testing.T, test func(t *testing.T)) {
	t.Run("virtual time", func(t *testing.T) { synctest.Test(t, test) })
	t.Run("real time", func(t *testing.T) {
		t.Parallel()
		test(t)
	})
}
