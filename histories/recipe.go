package histories

// Recipe is the kind of a lock key. It decides which operations the key has and which
// guarantees it is judged by.
type Recipe string

// The recipes. Those that exclude, all but the semaphores and barriers, guard
// counters too.
const (
	Mutex           Recipe = "mutex"           // one holder, which may acquire it again
	NonReentrant    Recipe = "nonreentrant"    // one holder, which may not acquire it again
	ReadWrite       Recipe = "readwrite"       // one writer or any number of readers; operations have a Mode
	MultiLock       Recipe = "multilock"       // a mutex that is acquired alone, or with others and NonReentrant locks in one operation (Parts)
	Semaphore       Recipe = "semaphore"       // Size permits; operations have Permits
	SharedSemaphore Recipe = "sharedsemaphore" // a semaphore whose size is changed while it is in use
	Revocation      Recipe = "revocation"      // a mutex whose holder may be asked to release
	Handoff         Recipe = "handoff"         // a mutex that is handed on within a client, Size times in a row at most
	Election        Recipe = "election"        // one leader, which holds a term; observers are told the leader
	Barrier         Recipe = "barrier"         // no process passes while it is set
	DoubleBarrier   Recipe = "doublebarrier"   // no member enters before Size members have come, nor leaves before all leave
)

// Recipes returns all recipes, in the order in which reports list them.
func Recipes() []Recipe {
	return []Recipe{Mutex, NonReentrant, ReadWrite, MultiLock, Semaphore, SharedSemaphore, Revocation, Handoff, Election, Barrier, DoubleBarrier}
}

// IsLock reports whether the recipe is acquired and released: all but the
// barriers.
func (r Recipe) IsLock() bool { return r != Barrier && r != DoubleBarrier }

// HasPermits reports whether operations take a number of permits.
func (r Recipe) HasPermits() bool { return r == Semaphore || r == SharedSemaphore }

// Exclusive reports whether the lock has one holder at a time at most, in any mode.
func (r Recipe) Exclusive() bool {
	return r == Mutex || r == NonReentrant || r == MultiLock || r == Revocation || r == Handoff || r == Election
}

// RefusesOwner reports whether a lock of this recipe refuses an owner that holds it
// already. The other exclusive recipes grant the lock to its owner again.
func (r Recipe) RefusesOwner() bool { return r == NonReentrant || r == Election }

// Revocable reports whether the holder of a lock of this recipe may be asked to release it. The
// leader of an election is asked to resign; not every election can do that.
func (r Recipe) Revocable() bool { return r == Revocation || r == Election }

// Guards reports whether locks of this recipe guard counters. They do if only one owner
// at a time may hold the lock, or may hold it in write mode.
func (r Recipe) Guards() bool { return r.Exclusive() || r == ReadWrite }

// sized reports whether a lock of this recipe has a size.
func (r Recipe) sized() bool { return r.HasPermits() || r == DoubleBarrier || r == Handoff }

// has reports whether op is an operation of the recipe.
func (r Recipe) has(op Op) bool {
	switch op {
	case Acquire, TryAcquire, Release:
		return r.IsLock()
	case Read:
		return r.Guards()
	case Write:
		return r.Guards() || r.HasPermits()
	case SetSize:
		return r == SharedSemaphore
	case Revoke:
		return r.Revocable()
	case Observe:
		return r == Election
	case Set, Remove, Wait:
		return r == Barrier
	case Enter, Leave:
		return r == DoubleBarrier
	}
	return false
}
