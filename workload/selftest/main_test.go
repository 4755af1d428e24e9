package selftest

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// hostEnv makes this program a process of a Virtual.
const hostEnv = "ZKVERIFY_TEST_SELFTEST_HOST"

func TestMain(m *testing.M) {
	switch os.Getenv(hostEnv) {
	case "":
	case "hangs":
		select {} //nolint:staticcheck // a process that does not end
	default:
		Host("", os.Stdin, os.Stdout)
	}
	goleak.VerifyTestMain(m)
}
