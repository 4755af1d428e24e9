package selftest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/workload/targets"
	"github.com/zkverify/zkverify/workload/worker"
)

// workerEnv makes the test binary a worker process.
const workerEnv = "ZKVERIFY_TEST_SELFTEST_WORKER"

// hostEnv makes it a process of a Virtual.
const hostEnv = "ZKVERIFY_TEST_SELFTEST_HOST"

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		if err := worker.Serve(context.Background(), os.Stdin, os.Stdout, targets.All()...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	switch os.Getenv(hostEnv) {
	case "":
	case "hangs":
		select {} //nolint:staticcheck // a process that does not end
	default:
		Host("", os.Stdin, os.Stdout)
	}
	goleak.VerifyTestMain(m)
}
