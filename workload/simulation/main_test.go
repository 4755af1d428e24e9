package simulation

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// hosting makes this program a process of a Fleet.
const hosting = "ZKVERIFY_TEST_HOST"

// TestMain carries out one run if the test's own Fleet has started the program for it.
func TestMain(m *testing.M) {
	switch os.Getenv(hosting) {
	case "":
		goleak.VerifyTestMain(m)
	case "hangs":
		select {} //nolint:staticcheck // a process that does not end
	default:
		Host("", os.Stdin, os.Stdout)
	}
}
