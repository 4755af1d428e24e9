package histories

// Recipe says what sort of thing a lock key names: which operations it has,
// and what is promised of it.
type Recipe string

// The recipes. Those that exclude, all but the semaphores and barriers, guard
// counters too.
const (
	Mutex           Recipe = "mutex"           // one holder, who may acquire again
	NonReentrant    Recipe = "nonreentrant"    // one holder, who may not
	ReadWrite       Recipe = "readwrite"       // one writer or any number of readers; operations have a Mode
	MultiLock       Recipe = "multilock"       // a mutex that is acquired alone, or with others in one operation (Parts)
	Semaphore       Recipe = "semaphore"       // Size permits; operations have Permits
	SharedSemaphore Recipe = "sharedsemaphore" // a semaphore whose size is changed while it is in use
	Revocation      Recipe = "revocation"      // a mutex whose holder may be asked to release
	Handoff         Recipe = "handoff"         // a mutex that is handed on within a client, Size times in a row at most
	Election        Recipe = "election"        // one leader, which holds a term; who observes is told who leads
	Barrier         Recipe = "barrier"         // nobody passes while it is set
	DoubleBarrier   Recipe = "doublebarrier"   // nobody enters before Size members have come, nor leaves before all leave
)

// Recipes returns all of them, in the order in which they are reported.
func Recipes() []Recipe {
	return []Recipe{Mutex, NonReentrant, ReadWrite, MultiLock, Semaphore, SharedSemaphore, Revocation, Handoff, Election, Barrier, DoubleBarrier}
}

// IsLock reports whether the recipe is acquired and released: all but the
// barriers.
func (r Recipe) IsLock() bool { return r != Barrier && r != DoubleBarrier }

// HasPermits reports whether operations take a number of permits.
func (r Recipe) HasPermits() bool { return r == Semaphore || r == SharedSemaphore }

// Exclusive reports whether there is one holder at a time at most, whatever
// they ask for.
func (r Recipe) Exclusive() bool {
	return r == Mutex || r == NonReentrant || r == MultiLock || r == Revocation || r == Handoff || r == Election
}

// RefusesOwner reports whether a lock of this recipe refuses an owner that holds it
// already. Others that exclude let it in again.
func (r Recipe) RefusesOwner() bool { return r == NonReentrant || r == Election }

// Guards reports whether locks of this recipe guard counters: those that one owner
// alone may hold, or may hold to write.
func (r Recipe) Guards() bool { return r.Exclusive() || r == ReadWrite }

// sized reports whether a lock of this recipe has a size.
func (r Recipe) sized() bool { return r.HasPermits() || r == DoubleBarrier || r == Handoff }

// has reports whether op can be asked for.
func (r Recipe) has(op Op) bool {
	switch op {
	case Acquire, TryAcquire, Release:
		return r.IsLock()
	case Read, Write:
		return r.Guards()
	case SetSize:
		return r == SharedSemaphore
	case Revoke:
		return r == Revocation
	case Observe:
		return r == Election
	case Set, Remove, Wait:
		return r == Barrier
	case Enter, Leave:
		return r == DoubleBarrier
	}
	return false
}
