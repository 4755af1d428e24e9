package inspect

import (
	"errors"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// Recipe is a kind of lock.
type Recipe string

// The recipes that are recognized. A mutex that is not reentrant is a semaphore of size 1
// (recipes.NewNonReentrantMutex, InterProcessSemaphoreMutex).
const (
	Mutex         Recipe = "mutex"
	ReadWrite     Recipe = "readwrite"
	Semaphore     Recipe = "semaphore"
	Election      Recipe = "election"
	DoubleBarrier Recipe = "doublebarrier"
	Unknown       Recipe = "unknown" // ephemeral sequential nodes with names of no recipe
)

// Errors of [Read], beside zk.ErrNoNode and zk.ErrNoAuth, [recipes.ErrBadPath], errors of
// the connection and the context's cause.
var (
	// ErrNoLock means that the node exists, but its children belong to no lock.
	ErrNoLock = errors.New("inspect: no lock")
	// ErrFree means that the node has no children. A lock that is not in use looks so, and so does
	// a barrier, and any other node.
	ErrFree = errors.New("inspect: no client holds it or waits for it")
)

// Lock is the state of a lock at one time.
type Lock struct {
	Path   string
	Recipe Recipe
	// Queue has the permits of a semaphore that are out, and then the contenders in the
	// order of their places. Members of a double barrier are in the order of their names.
	Queue []Contender
	// Foreign lists the paths of children that do not belong to the lock's recipe.
	Foreign []string
	// Size is the size of a semaphore if its nodes tell it, as kazoo's do; 0 otherwise.
	Size int
	// Round is the round of a double barrier, nil without a node "ready".
	Round *Round
	// Changing is true when nodes came and went each time the lock was read: Queue
	// may lack some nodes, and may have some that are gone.
	Changing bool

	grants counter // of the node whose children show grants
}

// Round is the content of the node "ready" of a double barrier.
type Round struct {
	Path  string
	Since time.Time
	// Listed has the members that came later and joined: recipes list them in the node.
	Listed []string
	zxid   int64
}

// Contender is a node of a lock.
type Contender struct {
	Path     string
	Kind     Kind
	Library  Library
	Sequence int32 // 0 if the node has none: a permit of kazoo, a member
	Holds    bool  // the grant rule admits it

	// Read is false when the node was not read, see [Brief]: the fields below are not set.
	Read bool
	// Hidden is true when the node's permissions do not allow reading its data.
	Hidden  bool
	Data    []byte // at most the first 256 bytes
	Size    int    // of the whole data, in bytes
	Session int64  // that owns the node; 0: none, the node is persistent
	Token   recipes.Token
	Since   time.Time // when the node was created, by the leader's wall clock
	version int32
}

// maxData bounds the part of a node's data that is kept.
const maxData = 256

// free reports whether the lock has only nodes that stay when it is not in use.
func (l *Lock) free() bool { return len(l.Queue) == 0 && l.Round == nil }

// Holders returns the contenders that hold the lock, in the order of the queue.
func (l *Lock) Holders() (all []*Contender) { return l.with(true) }

// Waiters returns the other contenders, in the order of the queue.
func (l *Lock) Waiters() (all []*Contender) { return l.with(false) }

func (l *Lock) with(holds bool) (all []*Contender) {
	for i := range l.Queue {
		if l.Queue[i].Holds == holds {
			all = append(all, &l.Queue[i])
		}
	}
	return all
}

// Count counts the contenders that hold the lock, and those that wait for it.
func (l *Lock) Count() (holders, waiters int) {
	for i := range l.Queue {
		if l.Queue[i].Holds {
			holders++
		} else {
			waiters++
		}
	}
	return holders, waiters
}

// Oldest returns the holder and the waiter whose nodes are the oldest of those that were
// read, or nil if there is none. It compares [Contender.Since].
func (l *Lock) Oldest() (holder, waiter *Contender) {
	for i := range l.Queue {
		c := &l.Queue[i]
		which := &waiter
		if c.Holds {
			which = &holder
		}
		if c.Read && (*which == nil || c.Since.Before((*which).Since)) {
			*which = c
		}
	}
	return holder, waiter
}
