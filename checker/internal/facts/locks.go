package facts

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// Info returns what is known of a lock.
func (t *Trace) Info(lock string) *LockInfo {
	known := t.known[lock]
	if known == nil {
		known = &LockInfo{recipe: t.Recipe(lock)}
		t.known[lock] = known
		t.Locks = append(t.Locks, lock)
	}
	return known
}

// Recipe returns that of a lock.
func (t *Trace) Recipe(lock string) histories.Recipe { return t.Header.RecipeOf(lock) }

// Recipes returns those of the run, in their order.
func (t *Trace) Recipes() []histories.Recipe {
	seen := map[histories.Recipe]bool{}
	for lock := range t.Header.Locks {
		seen[t.Recipe(lock)] = true
	}
	if len(seen) == 0 {
		seen[t.Recipe("")] = true // one for all
	}
	return slices.DeleteFunc(histories.Recipes(), func(r histories.Recipe) bool { return !seen[r] })
}

// LocksThat returns the locks of some recipes.
func (t *Trace) LocksThat(some func(histories.Recipe) bool) []string {
	return slices.DeleteFunc(slices.Clone(t.Locks), func(lock string) bool { return !some(t.Recipe(lock)) })
}

// HoldsThat returns the holds of the locks of some recipes.
func (t *Trace) HoldsThat(some func(histories.Recipe) bool) []*Hold {
	return slices.DeleteFunc(slices.Clone(t.Holds), func(h *Hold) bool { return !some(t.Recipe(h.Lock)) })
}

// OldestAcquires returns a function that tells of a lock since when an acquire
// that is still under way has been: t.End if none is.
func (t *Trace) OldestAcquires() func(lock string) time.Duration {
	return t.oldestOpen((*Op).Acquires, t.End)
}

// Oldest returns a function that tells of a lock since when some operation of a
// kind has been under way on it: forever, if there is none.
func (t *Trace) Oldest(kind func(*Op) bool) func(lock string) time.Duration {
	if t.Last {
		return func(string) time.Duration { return Forever }
	}
	return t.oldestOpen(kind, Forever)
}

func (t *Trace) oldestOpen(kind func(*Op) bool, none time.Duration) func(lock string) time.Duration {
	oldest := map[string]time.Duration{}
	for _, p := range t.Processes {
		for _, o := range p.Open {
			if at, ok := oldest[o.Lock]; kind(o) && (!ok || o.Call < at) {
				oldest[o.Lock] = o.Call
			}
		}
	}
	return func(lock string) time.Duration {
		if at, ok := oldest[lock]; ok {
			return at
		}
		return none
	}
}
