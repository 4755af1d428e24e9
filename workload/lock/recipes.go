package lock

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// NonReentrantLocker is implemented by clients that offer a lock whose owner cannot acquire it
// again. If the locker is a [Reenterer], a run tests that too: Reenter must fail, and neither
// wait nor harm the lease.
type NonReentrantLocker interface{ NonReentrant() Locker }

// ReadWriteLocker is implemented by clients that offer a read/write lock. If
// read is a [Reenterer], its Reenter also takes a lease of write: a downgrade.
// If write is one, its Reenter also takes a lease of read: an upgrade, which
// must be refused at once.
type ReadWriteLocker interface {
	ReadWrite() (read, write Locker)
}

// MultiLocker is implemented by clients that can acquire several mutexes in one operation, all
// or none, in any order of names; of a [Mixing] target, other locks too.
type MultiLocker interface {
	// Alone returns a locker of single mutexes. If it is a [Reenterer], its Reenter also takes
	// a lease of several locks that include the lock.
	Alone() Locker
	// AcquireAll acquires all locks, as Locker.Acquire does one. A place that is reported names
	// its lock.
	AcquireAll(ctx context.Context, locks []string) (MultiLease, error)
	// TryAcquireAll acquires all locks, as Locker.TryAcquire does one.
	TryAcquireAll(ctx context.Context, locks []string) (MultiLease, error)
}

// MultiReenterer is implemented by MultiLockers whose leases know their owner.
type MultiReenterer interface {
	// ReenterAll acquires all of the locks again for the owner of held. If one of them was lost
	// it returns ErrLost, and acquires none.
	ReenterAll(ctx context.Context, locks []string, held Lease) (MultiLease, error)
}

// MultiLease is a lease of several locks. It is lost when one of the locks is lost.
type MultiLease interface {
	Lease // Token is not asked for
	// Tokens returns the tokens of the locks, in the order in which they were named.
	Tokens() []histories.Token
}

// AsLease returns a lease of some type, or a nil Lease with the error.
func AsLease[L Lease](l L, err error) (Lease, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

// RevocableLocker is implemented by clients that offer mutexes whose holder can
// be asked to release. Their leases are [RevocableLease]s.
type RevocableLocker interface{ Revocable() RevokerLocker }

// RevokerLocker acquires revocable mutexes, and asks their holders to release.
type RevokerLocker interface {
	Locker
	// Holder returns the token of the lease that holds the lock, and the node to pass to
	// Revoke. It returns ErrNotHeld if the lock is free.
	Holder(ctx context.Context, name string) (token histories.Token, node string, err error)
	// Revoke asks the holder to release. An error leaves open whether the request reaches it.
	Revoke(ctx context.Context, node string) error
}

// RevocableLease is a lease whose holder can be asked to release it.
type RevocableLease interface {
	Lease
	// OnRevoke registers f, which is called, once or more, from any goroutine, when the holder
	// is asked to release: before or after the call of OnRevoke.
	OnRevoke(f func())
}

// HandoffLocker is implemented by clients that offer a mutex which a release hands to another
// waiter of the same client: Env.Locks has the most hand-offs in a row. If the locker is a
// [Reenterer], a run tests that too. Only a [Concurrent] target has clients with several
// waiters.
type HandoffLocker interface{ Handoff() Locker }

// ElectionLocker is implemented by clients that offer elections.
type ElectionLocker interface{ Election() Elector }

// Elector elects leaders: the holder of one of its locks is the leader. If it is a [Reenterer],
// a run tests that too: Reenter must fail, and neither wait nor harm the lease. If it is a
// [RevokerLocker], its leases are [RevocableLease]s, and a run asks leaders to resign.
type Elector interface {
	Locker
	// Observe calls f with the token of the leader, and again each time that the leader
	// changes; with the zero token while there is no leader. It returns nil when f has returned
	// false, and an error when it cannot go on or ctx has ended.
	Observe(ctx context.Context, name string, f func(histories.Token) bool) error
}

// LeaderElector is implemented by an Elector that can be asked who leads.
type LeaderElector interface {
	Elector
	// Leader returns the token of the leader's term, and the zero Token when there is no leader.
	Leader(ctx context.Context, name string) (histories.Token, error)
}

// AnnouncingElector is implemented by an Elector whose candidates announce the owner that acquires,
// see OwnerOf.
type AnnouncingElector interface {
	Elector
	// ObserveAnnounced is Observe with the owner that the leader announces, or HiddenOwner.
	ObserveAnnounced(ctx context.Context, name string, f func(leader histories.Token, owner string) bool) error
}

// HiddenOwner is the owner of a leader whose announcement a request to resign hides.
const HiddenOwner = "(hidden)"

// ElectorOf returns the elector of a client, or an error as LockerOf does.
func ElectorOf(c Client) (Elector, error) { return got[Elector](c, histories.Election, "") }

// offer describes the way in which a client offers a recipe.
type offer struct {
	has func(Client) bool
	get func(Client, histories.Mode) any // returns the locker; the client has it
}

// offeredBy returns the offer of clients that implement T.
func offeredBy[T any](get func(t T, mode histories.Mode) any) offer {
	return offer{
		has: func(c Client) bool { _, ok := c.(T); return ok },
		get: func(c Client, mode histories.Mode) any { return get(c.(T), mode) },
	}
}

// offers has the offer of each recipe.
var offers = map[histories.Recipe]offer{
	histories.Mutex:        offeredBy(func(t Client, _ histories.Mode) any { return t }),
	histories.NonReentrant: offeredBy(func(t NonReentrantLocker, _ histories.Mode) any { return t.NonReentrant() }),
	histories.ReadWrite: offeredBy(func(t ReadWriteLocker, mode histories.Mode) any {
		read, write := t.ReadWrite()
		if mode == histories.ModeWrite {
			return write
		}
		return read
	}),
	histories.MultiLock:       offeredBy(func(t MultiLocker, _ histories.Mode) any { return t.Alone() }),
	histories.Semaphore:       offeredBy(func(t SemaphoreLocker, _ histories.Mode) any { return t.Semaphore() }),
	histories.SharedSemaphore: offeredBy(func(t SharedSemaphoreLocker, _ histories.Mode) any { return t.SharedSemaphore() }),
	histories.Revocation:      offeredBy(func(t RevocableLocker, _ histories.Mode) any { return t.Revocable() }),
	histories.Handoff:         offeredBy(func(t HandoffLocker, _ histories.Mode) any { return t.Handoff() }),
	histories.Election:        offeredBy(func(t ElectionLocker, _ histories.Mode) any { return t.Election() }),
	// Barriers have no locker: the client itself has their operations.
	histories.Barrier:       offeredBy(func(BarrierClient, histories.Mode) any { return nil }),
	histories.DoubleBarrier: offeredBy(func(DoubleBarrierClient, histories.Mode) any { return nil }),
}

// Offerer is implemented by clients that have the methods of recipes which they do not offer,
// as clients in worker processes do.
type Offerer interface{ Offers(histories.Recipe) bool }

// Offers reports whether a client offers a recipe.
func Offers(c Client, r histories.Recipe) bool {
	if o, says := c.(Offerer); says {
		return o.Offers(r)
	}
	o, known := offers[r]
	return known && o.has(c)
}

// Offered returns the recipes that a client offers, in the order of histories.Recipes.
func Offered(c Client) []histories.Recipe {
	return slices.DeleteFunc(histories.Recipes(), func(r histories.Recipe) bool { return !Offers(c, r) })
}

// ByName is implemented by clients that acquire the locks of a recipe by the recipe's name, as
// clients in worker processes do. They need no method of their own for a recipe whose locks are
// acquired and released one by one.
type ByName interface {
	// LockerByName returns the locker of a recipe that the client offers, in a mode if the
	// recipe has modes.
	LockerByName(r histories.Recipe, mode histories.Mode) Locker
}

// LockerOf returns the locker of a recipe whose locks are acquired one by one, in a mode if the
// recipe has modes. It is an error if the client does not offer the recipe, or if the recipe
// has no such locks.
func LockerOf(c Client, r histories.Recipe, mode histories.Mode) (Locker, error) {
	if b, ok := c.(ByName); ok && Offers(c, r) && r.IsLock() && !r.HasPermits() {
		return b.LockerByName(r, mode), nil
	}
	return got[Locker](c, r, mode)
}

// PermitsOf returns the locker of a recipe with permits, or an error as LockerOf does.
func PermitsOf(c Client, r histories.Recipe) (PermitLocker, error) {
	return got[PermitLocker](c, r, "")
}

func got[T any](c Client, r histories.Recipe, mode histories.Mode) (t T, err error) {
	if o, known := offers[r]; known && o.has(c) {
		if t, ok := o.get(c, mode).(T); ok {
			return t, nil
		}
	}
	return t, Missing(r)
}

// Missing returns the error of a client that does not offer a recipe.
func Missing(r histories.Recipe) error { return fmt.Errorf("the target offers no %s", r) }
