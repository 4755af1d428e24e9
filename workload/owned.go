package workload

import (
	"context"
	"strconv"
	"strings"
)

// What the adapters of package recipes and of its mutants share.

// named returns ctx with the owner that an acquire is on record for, so that the
// recipe knows whom it serves; as it is where that is not known.
func named(ctx context.Context, as func(context.Context, string) context.Context) context.Context {
	if a, _ := ctx.Value(attemptKey{}).(*attempt); a != nil {
		return as(ctx, a.Owner)
	}
	return ctx
}

// Owned is for targets whose leases have a context that carries their owner, as
// those of package recipes do. It returns lease's context for an acquire under
// ctx in the owner's name: it ends with ctx too, and places in queues that are
// reported with it (Env.Enqueued) are put down to ctx's acquire. Call end when
// the acquire has returned.
func Owned(ctx, lease context.Context) (_ context.Context, end func()) {
	inner, cancel := context.WithCancelCause(context.WithValue(lease, attemptKey{}, ctx.Value(attemptKey{})))
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return inner, func() { stop(); cancel(nil) }
}

// Sequence reads ZooKeeper's number off the name of a sequential node. It is
// negative when the numbers have wrapped, and 0 for any other node.
func Sequence(node string) int {
	i := strings.LastIndexByte(node, '-')
	if i > 0 && node[i-1] == '-' {
		i-- // of a negative number
	}
	n, _ := strconv.Atoi(node[i+1:])
	return n
}
