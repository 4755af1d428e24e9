package histories

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

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
	Barrier         Recipe = "barrier"         // nobody passes while it is set
	DoubleBarrier   Recipe = "doublebarrier"   // nobody enters before Size members have come, nor leaves before all leave
)

// Recipes returns all of them, in the order in which they are reported.
func Recipes() []Recipe {
	return []Recipe{Mutex, NonReentrant, ReadWrite, MultiLock, Semaphore, SharedSemaphore, Revocation, Handoff, Barrier, DoubleBarrier}
}

// IsLock reports whether the recipe is acquired and released: all but the
// barriers.
func (r Recipe) IsLock() bool { return r != Barrier && r != DoubleBarrier }

// HasPermits reports whether operations take a number of permits.
func (r Recipe) HasPermits() bool { return r == Semaphore || r == SharedSemaphore }

// Exclusive reports whether there is one holder at a time at most, whatever
// they ask for.
func (r Recipe) Exclusive() bool {
	return r == Mutex || r == NonReentrant || r == MultiLock || r == Revocation || r == Handoff
}

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
		return r.Exclusive() || r == ReadWrite
	case SetSize:
		return r == SharedSemaphore
	case Revoke:
		return r == Revocation
	case Set, Remove, Wait:
		return r == Barrier
	case Enter, Leave:
		return r == DoubleBarrier
	}
	return false
}

// Lock describes one lock key of a run.
type Lock struct {
	Recipe Recipe `json:"recipe"`
	// Size is the number of permits of a semaphore, at the start of the run if
	// it is shared, the number of members of a double barrier, and how often in a
	// row a hand-off may hand a lock on.
	Size int `json:"size,omitempty"`
}

// RecipeOf returns the recipe of a lock key. In a history whose header lists no
// locks every key is of Header.Recipe, a mutex if that is no recipe.
func (h *Header) RecipeOf(lock string) Recipe {
	if l, ok := h.Locks[lock]; ok {
		return l.Recipe
	}
	if r := Recipe(h.Recipe); len(h.Locks) == 0 && slices.Contains(Recipes(), r) {
		return r
	}
	return Mutex
}

// check reports what is wrong with the header's times and locks.
func (h *Header) check() error {
	p := h.Promises
	for _, d := range []time.Duration{h.SessionTimeout, h.TickTime, p.LossBound, p.RevokeBound, p.ProgressBound} {
		if d < 0 || d > maxTime {
			return fmt.Errorf("a time of the header is %d", d)
		}
	}
	switch h.ReleaseNotHeld {
	case "", NotHeldAsLost, NotHeldViolation:
	default:
		return fmt.Errorf(`"release_not_held" of the header is %q`, h.ReleaseNotHeld)
	}
	if h.Locks != nil && len(h.Locks) == 0 {
		return fmt.Errorf(`"locks" of the header is empty`)
	}
	for _, key := range sortedKeys(h.Locks) {
		l := h.Locks[key]
		switch {
		case key == "":
			return fmt.Errorf("a lock of the header has no name")
		case !slices.Contains(Recipes(), l.Recipe):
			return fmt.Errorf("lock %q of the header is of unknown recipe %q", key, l.Recipe)
		case l.Recipe.sized() && (l.Size < 1 || l.Size > math.MaxInt32):
			return fmt.Errorf("%s %q of the header has size %d", l.Recipe, key, l.Size)
		case !l.Recipe.sized() && l.Size != 0:
			return fmt.Errorf("%s %q of the header has a size", l.Recipe, key)
		}
	}
	return nil
}

// keys returns the lock keys that the event is about, for messages too.
func (e *Event) keys() []string {
	if e.Lock != "" {
		return []string{e.Lock}
	}
	var keys []string
	for _, p := range e.Parts {
		keys = append(keys, p.Lock)
	}
	return keys
}

// lockName names the event's lock, or locks, for messages.
func (e *Event) lockName() string { return strings.Join(e.keys(), "+") }
