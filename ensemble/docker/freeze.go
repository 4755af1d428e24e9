package docker

import (
	"context"
	"strings"
	"time"

	"github.com/zkverify/zkverify/internal/wait"
)

const (
	freezeTries = 10
	freezePause = 50 * time.Millisecond
)

// freeze calls pause to pause a container, and calls it again if the kernel refuses. A
// freezer of cgroups v1 does not freeze processes that start threads or are in the kernel
// at that moment; runc then gives up, thaws the processes that it has frozen, and reports
// "unable to freeze" (opencontainers/runc, libcontainer/cgroups/fs/freezer.go). A busy
// JVM meets this.
func freeze(ctx context.Context, pause func() error) error {
	for try := 1; ; try++ {
		err := pause()
		if err == nil || try == freezeTries || !strings.Contains(err.Error(), "unable to freeze") || !wait.For(ctx, freezePause) {
			return err
		}
	}
}
