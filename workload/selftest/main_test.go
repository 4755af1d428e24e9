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

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		if err := worker.Serve(context.Background(), os.Stdin, os.Stdout, targets.All()...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
