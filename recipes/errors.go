package recipes

import (
	"errors"
	"fmt"

	"github.com/zkverify/zkverify/recipes/internal/queue"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

var (
	// ErrNotAcquired is returned by TryAcquire when another contender is ahead, and by
	// Election.TryCampaign when there is another candidate.
	ErrNotAcquired = queue.ErrNotAcquired
	// ErrLeaseLost is the cause of a lost lease's context, and wrapped by its [Lease.Err]. It is
	// returned by [Lease.Release], by [Mutex.Do], and by every acquire and campaign with the
	// context of a lost lease.
	ErrLeaseLost = queue.ErrLeaseLost
	// ErrNotHeld is the cause of a released lease's context, and returned by every acquire and
	// campaign with it.
	ErrNotHeld = queue.ErrNotHeld
	// ErrSequenceEnd is returned by every acquire and campaign at a path with only a million of its
	// 2,147,483,648 sequence numbers left: after the last number a lock could be granted twice.
	// Leases that are held stay. The numbers begin anew when the lock's node has been deleted: by
	// the servers, when the lock has been idle for a minute or two, or by hand, when no client uses
	// the lock, if the node was made by hand and is not a container.
	ErrSequenceEnd = queue.ErrSequenceEnd
	// ErrClosed is returned by every call on a closed Client.
	ErrClosed = session.ErrClosed
	// ErrBadPath is returned by every call at a path that is not an absolute ZooKeeper path, is
	// the root, has characters that the servers refuse, or more than 8 kB, namespace included, and
	// by Connect for such a [WithNamespace].
	ErrBadPath = session.ErrBadPath
	// ErrBadOption is returned by every acquire, campaign and call of a barrier that was given a
	// [LockOption] that it does not take, and by Connect for an [Option] whose value is out of its
	// range. Its text names the option.
	ErrBadOption = errors.New("recipes: bad option")
	// ErrBadServers is returned by Connect and ParseServers for servers that are not a ZooKeeper
	// connect string, such as an empty list.
	ErrBadServers = errors.New("recipes: bad servers")
	// ErrNotZooKeeper is the error for a server that sends data that no ZooKeeper server sends: an
	// answer to the connect request with another protocol version, a password that has not 16
	// bytes, a session timeout of less than 100 ms or more than an hour that the client did not ask
	// for, or, for a new session, none; or a frame of an impossible length, see
	// [WithJuteMaxBuffer]. Its text describes the data. Connect, and every call that waits for a
	// session, returns it along with its context's cause, since another server may answer until
	// then.
	ErrNotZooKeeper = session.ErrNotZooKeeper
	// ErrTooLarge is returned by every call that creates or writes nodes, instead of sending it,
	// when its request, with the data and paths of all nodes of a transaction, is larger than
	// [WithJuteMaxBuffer]: servers answer such a request by cutting the connection. Calls that read
	// return it when the answer, such as a list of children, is larger; acquires of a [Semaphore]
	// also when a list of the permits that are held and of theirs would be. Calls that create nodes
	// return it when servers could not read the transaction that ends a session with so many nodes
	// (ZOOKEEPER-4306): the paths of the session's nodes, plus 4 bytes for each, may have at most
	// twice jute.maxbuffer.
	ErrTooLarge = session.ErrTooLarge
	// ErrStaleToken is returned by Fence.Admit and Fence.Guard.
	ErrStaleToken = errors.New("recipes: stale fencing token")
	// ErrBadToken is returned by ParseToken, [Token.UnmarshalText] and [Token.Scan] for what is not
	// a token, and by [Token.MarshalText] and [Token.Value] for a negative number, which no lease's
	// token has.
	ErrBadToken = errors.New("recipes: bad token")
	// ErrOutcomeUnknown is returned by Lease.Multi and MultiLease.Multi, along with the reason,
	// when the transaction may or may not have been carried out: the connection broke or the
	// context ended before the answer came. To find out, call zk.Conn.Sync on the Client's Conn,
	// then read the nodes.
	ErrOutcomeUnknown = errors.New("recipes: outcome unknown")
	// ErrUpgrade is returned when a reader asks for the write lock, see [ReadWriteMutex].
	ErrUpgrade = errors.New("recipes: a read lock cannot be upgraded to a write lock")
	// ErrAlreadyHeld is returned by a lock of [NewNonReentrantMutex] when its owner acquires it
	// again, and by an [Election] when its leader campaigns: with the context of its term, or by
	// its owner (see [WithOwner]).
	ErrAlreadyHeld = errors.New("recipes: lock already held by its owner")
	// ErrNoLeader is returned by Election.Leader when there is no candidate.
	ErrNoLeader = errors.New("recipes: no leader")
	// ErrBadPermits is returned by a [Semaphore] when an acquire asks for less than one permit, or
	// when the size is less than one.
	ErrBadPermits = errors.New("recipes: bad number of permits")
	// ErrTooManyPermits is returned by a [Semaphore] when an acquire asks for more than 1,000
	// permits, or for more than its fixed size, held ones included. With a shared size it waits for
	// a raise.
	ErrTooManyPermits = errors.New("recipes: more permits than the semaphore has")
	// ErrBadCount is returned by a [SharedCount], and by a semaphore of its size, when the number
	// does not fit into 4 bytes or the node's data is not 4 bytes long.
	ErrBadCount = queue.ErrBadCount
	// ErrBadLocks is returned by a [MultiLock] that has no locks, locks of several clients, or
	// two locks of one path.
	ErrBadLocks = errors.New("recipes: bad set of locks")
	// ErrBadRule is returned by the acquires of a [Mutex] whose [GrantRule] names a later
	// contender to wait for.
	ErrBadRule = queue.ErrBadRule
	// ErrBadMembers is returned by DoubleBarrier.Enter when the number of members
	// is less than one, or too large for one transaction.
	ErrBadMembers = errors.New("recipes: bad number of members")
	// ErrEntered is returned by DoubleBarrier.Enter when the member is inside or
	// on its way in or out.
	ErrEntered = errors.New("recipes: barrier already entered")
	// ErrNotEntered is returned by DoubleBarrier.Leave when the member is not
	// inside, or on its way in or out.
	ErrNotEntered = errors.New("recipes: barrier not entered")
	// ErrMembershipLost is returned by DoubleBarrier.Leave at once when the session of the member
	// has ended since Enter, or another client has deleted its node: the others may have left
	// without it.
	ErrMembershipLost = errors.New("recipes: barrier membership lost")
)

// ServerError is an error that a server answered, with ZooKeeper's number in Code and its name in
// Name, such as −125 and QuotaExceeded; Name is empty for a number that ZooKeeper 3.9 does not
// have. Any call may return it, wrapped in other errors: find it by errors.As, with a *ServerError.
// errors.Is finds go-zookeeper's error for the number, such as zk.ErrNoAuth, if there is one.
//
// A call ends with the first such answer that it does not handle itself, and does not repeat the
// request, with two exceptions: a request that the servers have put off (ThrottledOp) is repeated
// after a wait, for a session timeout and at least twenty times; an answer that the session is used
// elsewhere or has expired (SessionMoved, SessionExpired) ends the connection, and the call
// continues at another server, which knows whether the session has ended. Servers that demand
// authentication answer SessionClosedRequireSaslAuth, also to Connect.
type ServerError = session.ServerError

// opError adds to err the call and the lock's path.
func opError(op, path string, err error) error {
	return fmt.Errorf("%s %s: %w", op, path, err)
}
