package checker

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// info returns what is known of a lock.
func (t *trace) info(lock string) *lockInfo {
	known := t.known[lock]
	if known == nil {
		known = &lockInfo{recipe: t.recipe(lock)}
		t.known[lock] = known
		t.locks = append(t.locks, lock)
	}
	return known
}

func (t *trace) recipe(lock string) histories.Recipe { return t.header.RecipeOf(lock) }

// recipes returns those of the run, in their order.
func (t *trace) recipes() []histories.Recipe {
	seen := map[histories.Recipe]bool{}
	for lock := range t.header.Locks {
		seen[t.recipe(lock)] = true
	}
	if len(seen) == 0 {
		seen[t.recipe("")] = true // one for all
	}
	return slices.DeleteFunc(histories.Recipes(), func(r histories.Recipe) bool { return !seen[r] })
}

// locksThat returns the locks of some recipes.
func (t *trace) locksThat(some func(histories.Recipe) bool) []string {
	return slices.DeleteFunc(slices.Clone(t.locks), func(lock string) bool { return !some(t.recipe(lock)) })
}

// holdsThat returns the holds of the locks of some recipes.
func (t *trace) holdsThat(some func(histories.Recipe) bool) []*hold {
	return slices.DeleteFunc(slices.Clone(t.holds), func(h *hold) bool { return !some(t.recipe(h.lock)) })
}

// oldestAcquires returns a function that tells of a lock since when an acquire
// that is still under way has been: t.end if none is.
func (t *trace) oldestAcquires() func(lock string) time.Duration {
	return t.oldestOpen((*op).acquires, t.end)
}

// oldest returns a function that tells of a lock since when some operation of a
// kind has been under way on it: forever, if there is none.
func (t *trace) oldest(kind func(*op) bool) func(lock string) time.Duration {
	if t.last {
		return func(string) time.Duration { return forever }
	}
	return t.oldestOpen(kind, forever)
}

func (t *trace) oldestOpen(kind func(*op) bool, none time.Duration) func(lock string) time.Duration {
	oldest := map[string]time.Duration{}
	for _, p := range t.procs {
		for _, o := range p.open {
			if at, ok := oldest[o.lock]; kind(o) && (!ok || o.call < at) {
				oldest[o.lock] = o.call
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
