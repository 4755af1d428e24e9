package lock

import (
	"context"
)

// BarrierClient is implemented by clients that offer barriers.
type BarrierClient interface {
	// SetBarrier puts the barrier up, and RemoveBarrier takes it away; neither fails if the
	// barrier is in that state already. An error leaves open whether it was done.
	SetBarrier(ctx context.Context, name string) error
	RemoveBarrier(ctx context.Context, name string) error
	// WaitBarrier returns when the barrier is not up.
	WaitBarrier(ctx context.Context, name string) error
}

// DoubleBarrierClient is implemented by clients that offer double barriers.
// Env.Locks has the number of members of each.
type DoubleBarrierClient interface {
	// EnterBarrier returns when all members have entered. After an error its member no longer
	// counts.
	EnterBarrier(ctx context.Context, name string) (Member, error)
}

// Member is a member inside a double barrier.
type Member interface {
	// Leave returns when all members leave. It returns ErrLost if the member is inside no more,
	// since its session has ended or another client has deleted its node.
	Leave(ctx context.Context) error
}

// MarkedBarrierClient is implemented by DoubleBarrierClients whose rounds can be followed in
// ZooKeeper: each member has an ephemeral node there, in the session of Conn, and a round
// begins with a node of its own, which stays at least until all members that entered have left.
type MarkedBarrierClient interface {
	DoubleBarrierClient
	// BarrierNodes returns the directory of the members' nodes, which may contain begun too,
	// and the node that a round begins with.
	BarrierNodes(name string) (members, begun string)
}
