package lock

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// NonReentrantLocker is implemented by clients that offer a lock whose owner
// cannot acquire it again. If the locker is a [Reenterer] that is put to the
// test: Reenter must fail, and neither wait nor harm the lease.
type NonReentrantLocker interface{ NonReentrant() Locker }

// ReadWriteLocker is implemented by clients that offer a read/write lock. If
// read is a [Reenterer], its Reenter also takes a lease of write: a downgrade.
// If write is one, its Reenter also takes a lease of read: an upgrade, which
// must be refused at once.
type ReadWriteLocker interface {
	ReadWrite() (read, write Locker)
}

// MultiLocker is implemented by clients that offer to acquire several mutexes
// in one operation, all or none, in whatever order they are named.
type MultiLocker interface {
	// Alone gets one of the mutexes by itself. If it is a [Reenterer], its
	// Reenter also takes a lease of several that has the lock among them.
	Alone() Locker
	// AcquireAll is Locker.Acquire of all. Places that are reported name
	// their lock.
	AcquireAll(ctx context.Context, locks []string) (MultiLease, error)
	// TryAcquireAll is Locker.TryAcquire of all.
	TryAcquireAll(ctx context.Context, locks []string) (MultiLease, error)
}

// MultiReenterer is implemented by MultiLockers whose leases know their owner.
type MultiReenterer interface {
	// ReenterAll acquires all of the locks again in the name of the owner of held.
	// If one of them was lost it returns ErrLost, and acquires none.
	ReenterAll(ctx context.Context, locks []string, held Lease) (MultiLease, error)
}

// MultiLease is several locks that are held. It is lost when one of them is.
type MultiLease interface {
	Lease // Token is not asked for
	// Tokens returns those of the locks, in the order in which they were named.
	Tokens() []histories.Token
}

// RevocableLocker is implemented by clients that offer mutexes whose holder can
// be asked to release. Their leases are [RevocableLease]s.
type RevocableLocker interface{ Revocable() RevokerLocker }

// RevokerLocker gets the mutexes, and asks their holders.
type RevokerLocker interface {
	Locker
	// Holder returns the token of the lease that holds the lock, and what
	// Revoke needs to reach it. ErrNotHeld if the lock is free.
	Holder(ctx context.Context, name string) (token histories.Token, node string, err error)
	// Revoke asks for it. An error leaves open whether the holder will hear.
	Revoke(ctx context.Context, node string) error
}

// RevocableLease is a lease whose holder can be asked to release it.
type RevocableLease interface {
	Lease
	// OnRevoke has f called, once or more, from any goroutine, when the
	// holder is asked: before or after the call of OnRevoke.
	OnRevoke(f func())
}

// HandoffLocker is implemented by clients that offer a mutex which a release hands
// on within the client: Env.Locks says how often in a row at most. If the locker is
// a [Reenterer] that is put to the test too. Only a [Concurrent] target
// has clients that it can be handed to.
type HandoffLocker interface{ Handoff() Locker }

// ElectionLocker is implemented by clients that offer elections.
type ElectionLocker interface{ Election() Elector }

// Elector elects leaders: to hold one of its locks is to lead. If it is a [Reenterer] that is
// put to the test: Reenter must fail, and neither wait nor harm the lease.
type Elector interface {
	Locker
	// Observe calls f with the token of the leader, and again each time when another one
	// leads; with the zero token while nobody does. It returns nil when f has returned false,
	// and an error when it cannot go on or ctx has ended.
	Observe(ctx context.Context, name string, f func(histories.Token) bool) error
}

// ElectorOf returns what elects the leaders of a client, or an error as LockerOf does.
func ElectorOf(c Client) (Elector, error) { return got[Elector](c, histories.Election, "") }

// offer is how a client offers a recipe.
type offer struct {
	has func(Client) bool
	get func(Client, histories.Mode) any // what gets the locks; the client has it
}

// offeredBy is the offer of clients that implement T.
func offeredBy[T any](get func(t T, mode histories.Mode) any) offer {
	return offer{
		has: func(c Client) bool { _, ok := c.(T); return ok },
		get: func(c Client, mode histories.Mode) any { return get(c.(T), mode) },
	}
}

// offers are those of all recipes.
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
	// Nothing gets barriers: the client has their operations itself.
	histories.Barrier:       offeredBy(func(BarrierClient, histories.Mode) any { return nil }),
	histories.DoubleBarrier: offeredBy(func(DoubleBarrierClient, histories.Mode) any { return nil }),
}

// Offerer is implemented by clients that have the methods of recipes which they do not
// offer, as clients in worker processes do.
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

// ByName is implemented by clients that get the locks of a recipe by its name, as clients
// in worker processes do. They need no method of their own for a recipe whose locks are
// acquired and released one by one.
type ByName interface {
	// LockerByName returns what gets the locks of a recipe that the client offers, in a
	// mode if there are modes.
	LockerByName(r histories.Recipe, mode histories.Mode) Locker
}

// LockerOf returns what gets the locks of a recipe one by one, in a mode if there are
// modes. It is an error if the client does not offer the recipe, or if it has no such
// locks.
func LockerOf(c Client, r histories.Recipe, mode histories.Mode) (Locker, error) {
	if b, ok := c.(ByName); ok && Offers(c, r) && r.IsLock() && !r.HasPermits() {
		return b.LockerByName(r, mode), nil
	}
	return got[Locker](c, r, mode)
}

// PermitsOf returns what gets the permits of a recipe, or an error as LockerOf does.
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

// Missing is the error of a client that lacks a recipe.
func Missing(r histories.Recipe) error { return fmt.Errorf("the target offers no %s", r) }
