package workload

import (
	"context"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/workload/internal/servers"
)

// CompareServers asks each server by itself for its nodes at and below a path, and returns the
// differences, as a run does at its end. No client may write meanwhile. A server that differs
// has lost nodes that the others have, or kept nodes that the others have not. The error names
// servers that could not be asked.
func CompareServers(ctx context.Context, all []ensemble.Server, root string) (differences []string, err error) {
	return servers.Compare(ctx, all, ensemble.Credentials{}, root)
}
