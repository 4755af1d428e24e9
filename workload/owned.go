package workload

import (
	"context"
	"strconv"
	"strings"
)

// What the adapters of package recipes and of its mutants share.

// owned returns lease's context, which has its owner, such that it ends with ctx
// and places in queues are put down to ctx's acquire.
func owned(ctx, lease context.Context) (_ context.Context, end func()) {
	inner, cancel := context.WithCancelCause(context.WithValue(lease, attemptKey{}, ctx.Value(attemptKey{})))
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return inner, func() { stop(); cancel(nil) }
}

// sequence reads ZooKeeper's number off the name of a sequential node. It is
// negative when the numbers have wrapped.
func sequence(node string) int {
	i := strings.LastIndexByte(node, '-')
	if i > 0 && node[i-1] == '-' {
		i-- // of a negative number
	}
	n, _ := strconv.Atoi(node[i+1:])
	return n
}
