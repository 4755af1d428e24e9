package recipes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/recipes/internal/queue"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

var (
	// ErrNotAcquired is returned by TryAcquire when somebody else is ahead, and by
	// Election.TryCampaign when there is another candidate.
	ErrNotAcquired = queue.ErrNotAcquired

	// ErrLeaseLost is the cause of a lost lease's context. It is returned by
	// Release of a lost lease, and of one whose deadline passes before the servers have
	// confirmed the release; by Do when the lease was lost under the
	// function, or so released; and by Acquire with the context of a lost lease.
	ErrLeaseLost = queue.ErrLeaseLost

	// ErrNotHeld is the cause of a released lease's context, and so is returned
	// by Acquire with the context of a lease that has been released.
	ErrNotHeld = queue.ErrNotHeld

	// ErrSequenceEnd is returned by every acquire and campaign at a path at which a million
	// of its 2,147,483,648 sequence numbers are left: after them a lock could be granted
	// twice. Leases that are held stay. The numbers begin anew when the lock's node has been
	// deleted: servers delete it when the lock has been idle for a minute or two, unless it was
	// made by hand and is no container. Delete it by hand when no client uses the lock.
	ErrSequenceEnd = queue.ErrSequenceEnd

	// ErrClosed is returned by every call on a closed Client.
	ErrClosed = session.ErrClosed

	// ErrBadPath is returned by every call at a path that is not an absolute
	// ZooKeeper path, is the root, has characters that the servers refuse, or more
	// than 8 kB, namespace included; by Client.Revoke also when the path is not
	// that of a lock node. Connect returns it for a bad WithNamespace.
	ErrBadPath = session.ErrBadPath

	// ErrBadServers is returned by Connect and ParseServers for servers that are no connect
	// string of ZooKeeper, an empty list among them.
	ErrBadServers = errors.New("recipes: bad servers")

	// ErrBadTimeout is returned by Connect for a session timeout of less than a
	// millisecond or more than 24 days, and for a negative server tick.
	ErrBadTimeout = errors.New("recipes: bad timeout")

	// ErrBadIdentity is returned by Connect for a WithIdentity of more than 512 bytes,
	// that is not UTF-8, or with characters that cannot be printed.
	ErrBadIdentity = errors.New("recipes: bad identity")

	// ErrBadSize is returned by Connect for a WithJuteMaxBuffer of less than 4096
	// bytes or more than 1 GiB.
	ErrBadSize = errors.New("recipes: bad size")

	// ErrNotZooKeeper is what a server is refused with that sends what no ZooKeeper
	// server does: an answer to the connect request of another protocol version,
	// without a password of 16 bytes, with a session timeout of less than 100 ms or
	// more than an hour that was not asked for, or with none for a new session; or
	// a frame of a length that cannot be, see [WithJuteMaxBuffer]. Its text says
	// what came. Connect, and every call that waits for a session, returns it along
	// with its context's cause, for until then another server may answer.
	ErrNotZooKeeper = session.ErrNotZooKeeper

	// ErrTooLarge is returned, by whatever makes nodes or writes, when its request
	// would be larger than what servers take, see [WithJuteMaxBuffer]: the
	// data of all nodes of a transaction and their paths count. It has not been
	// sent. Servers answer such a request by cutting the connection. It is returned
	// too by whatever reads when the answer is larger than that, a list of children
	// say; and by whatever makes nodes when the session of the client would have so many
	// that the servers could not read the transaction that ends it (ZOOKEEPER-4306): the
	// paths of all its nodes, and 4 bytes for each, have at most twice jute.maxbuffer.
	ErrTooLarge = session.ErrTooLarge

	// ErrStaleToken is returned by Fence.Admit and Fence.Guard.
	ErrStaleToken = errors.New("recipes: stale fencing token")

	// ErrBadToken is returned by ParseToken for text that is no token, and by what reads
	// or writes a Token as text, JSON or a value of a database.
	ErrBadToken = errors.New("recipes: bad token")

	// ErrOutcomeUnknown is returned by Lease.Multi and MultiLease.Multi, along
	// with the reason, when the transaction may have been carried out or not:
	// the connection broke or the caller's context ended before the answer was
	// here. To find out read what it was to write, after a zk.Conn.Sync on the
	// Client's Conn.
	ErrOutcomeUnknown = errors.New("recipes: outcome unknown")

	// ErrUpgrade is returned by the Acquire and TryAcquire of a read-write
	// lock's write side when the owner holds the read side: it would wait for
	// itself.
	ErrUpgrade = errors.New("recipes: a read lock cannot be upgraded to a write lock")

	// ErrAlreadyHeld is returned by a [NonReentrantMutex] when its owner
	// acquires it again, and by an [Election] in which its leader campaigns.
	ErrAlreadyHeld = errors.New("recipes: lock already held by its owner")

	// ErrNoLeader is returned by Election.Leader when there is no candidate.
	ErrNoLeader = errors.New("recipes: no leader")

	// ErrBadPermits is returned by a [Semaphore] when less than one permit is
	// asked for, and when its size is less than one.
	ErrBadPermits = errors.New("recipes: bad number of permits")

	// ErrTooManyPermits is returned by a [Semaphore] when more permits are asked
	// for than it has, held ones included, or than one acquire can take.
	ErrTooManyPermits = errors.New("recipes: more permits than the semaphore has")

	// ErrBadCount is returned by a [SharedCount], and by a semaphore that takes
	// its size from one, when the number does not fit into 4 bytes or the node
	// holds something else.
	ErrBadCount = queue.ErrBadCount

	// ErrBadLocks is returned by a [MultiLock] of no locks, of locks of several
	// clients, or of one path twice.
	ErrBadLocks = errors.New("recipes: bad set of locks")

	// ErrBadRule is returned by the acquires of a [Mutex] whose [GrantRule] waits
	// for a later contender.
	ErrBadRule = queue.ErrBadRule
)

// ServerError is an answer of a server that is an error, with ZooKeeper's number for it in Code and
// its name in Name: −125 and QuotaExceeded, say. Name is empty for a number that ZooKeeper 3.9 does
// not have. Every call returns it, within other errors: find it by [errors.As], with a *ServerError.
// Where go-zookeeper has an error for the number, such as zk.ErrNoAuth, [errors.Is] finds that one.
//
// A call ends with the first such answer that it has no use for, and does not ask again, with these
// exceptions. A request that the servers have put off (ThrottledOp) is made again after a wait, for
// a session timeout at most. An answer that says that the session is used elsewhere or has expired
// (SessionMoved, SessionExpired) ends the connection, and the call goes on at another server, which
// knows whether the session has ended.
//
// Servers that demand authentication say SessionClosedRequireSaslAuth, Connect included.
type ServerError = session.ServerError

// failed says which call on which lock, or locks, failed; why there was no connection if ctx
// has ended for want of one; and which permission was missing.
func (c *Client) failed(ctx context.Context, op, path string, err error) error {
	err = c.sessions.Permission(err, strings.Split(path, ", ")...)
	return opError(op, path, c.sessions.Explain(ctx, err))
}

// opError says which call on which lock failed.
func opError(op, path string, err error) error {
	return fmt.Errorf("%s %s: %w", op, path, err)
}

var (
	// ErrBadMembers is returned by DoubleBarrier.Enter when the number of members
	// is less than one, or too large for one transaction.
	ErrBadMembers = errors.New("recipes: bad number of members")

	// ErrEntered is returned by DoubleBarrier.Enter when the member is inside or
	// on its way in or out.
	ErrEntered = errors.New("recipes: barrier already entered")

	// ErrNotEntered is returned by DoubleBarrier.Leave when the member is not
	// inside, or on its way in or out.
	ErrNotEntered = errors.New("recipes: barrier not entered")

	// ErrMembershipLost is returned by DoubleBarrier.Leave when the member's
	// session has ended since Enter, or somebody else has deleted its node: the
	// other members may have left without it.
	ErrMembershipLost = errors.New("recipes: barrier membership lost")
)

// several are errors of one call, told in one line.
type several []error

func (s several) Error() string {
	var all []string
	for _, err := range s {
		all = append(all, err.Error())
	}
	return strings.Join(all, "; ")
}

func (s several) Unwrap() []error { return s }
