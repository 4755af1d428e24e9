package facts

import (
	"iter"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// Info returns the facts of a lock.
func (t *Trace) Info(lock string) *LockInfo {
	if t.latest != nil && t.latest.Lock == lock { // most events are about the lock of the one before
		return t.latest
	}
	known := t.known[lock]
	if known == nil {
		known = &LockInfo{Lock: lock, at: len(t.infos), Recipe: t.Recipe(lock)}
		t.known[lock] = known
		t.infos = append(t.infos, known)
	}
	t.latest = known
	return known
}

// Recipe returns the recipe of a lock.
func (t *Trace) Recipe(lock string) histories.Recipe { return t.Header.RecipeOf(lock) }

// Recipes returns the recipes of the run, in their order.
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

// touch records that a lock has an event in this window.
func (t *Trace) touch(lock *LockInfo) {
	if !lock.touched {
		lock.touched = true
		t.touched = append(t.touched, lock)
	}
}

// LocksThat yields the locks of some recipes, in order of appearance: those with an event in
// this window, and in the last window all. The facts of the others have not changed, so a later
// window shows all that can come of them. It ends early if judging is to stop.
func (t *Trace) LocksThat(some func(histories.Recipe) bool) iter.Seq[*LockInfo] {
	return func(yield func(*LockInfo) bool) {
		for i, lock := range t.touched {
			if i%stopEvery == 0 && t.stops() {
				return
			}
			if some(lock.Recipe) && !yield(lock) {
				return
			}
		}
	}
}

// stopEvery is the number of steps of a loop between two checks whether to stop.
const stopEvery = 256

func (t *Trace) stops() bool { return t != nil && t.Stop != nil && t.Stop() }

// Stopping reports whether judging is to stop. It checks that at the first step of a loop, and
// then every stopEvery steps.
func (t *Trace) Stopping(step int) bool { return step%stopEvery == 0 && t.stops() }

// Each yields the elements of a slice that may be very long, until judging is to stop.
func Each[T any](t *Trace, all []T) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i, x := range all {
			if t.Stopping(i) || !yield(i, x) {
				return
			}
		}
	}
}

// Sort is slices.SortStableFunc for a slice that may be very long: it returns early, with the
// slice in any order, if judging is to stop.
func Sort[T any](t *Trace, all []T, compare func(a, b T) int) {
	n, ended := 0, false
	slices.SortStableFunc(all, func(a, b T) int {
		if n++; n%stopEvery == 0 && !ended {
			ended = t.stops()
		}
		if ended {
			return 0
		}
		return compare(a, b)
	})
}

// HoldsThat returns the holds of this window on locks of some recipes.
func (t *Trace) HoldsThat(some func(histories.Recipe) bool) []*Hold {
	return slices.DeleteFunc(slices.Clone(t.Holds), func(h *Hold) bool { return !some(h.info.Recipe) })
}

// HoldsOf returns the holds of this window on a lock, if the lock had an event in it.
func (t *Trace) HoldsOf(lock string) []*Hold {
	if known := t.known[lock]; known != nil {
		return known.holds
	}
	return nil
}

// OldestAcquires returns a function that returns the time of the oldest acquire that is still
// under way on a lock, t.End if none is.
func (t *Trace) OldestAcquires() func(lock *LockInfo) time.Duration {
	return t.oldestOpen((*Op).Acquires, t.End)
}

// Oldest returns a function that returns the time of the oldest operation of a kind that is
// under way on a lock, forever if none is.
func (t *Trace) Oldest(kind func(*Op) bool) func(lock *LockInfo) time.Duration {
	if t.Last {
		return func(*LockInfo) time.Duration { return Forever }
	}
	return t.oldestOpen(kind, Forever)
}

// OldestOfAny returns the time of the oldest operation of a kind that is under way on any lock,
// forever if none is.
func (t *Trace) OldestOfAny(kind func(*Op) bool) time.Duration {
	oldest := Forever
	if t.Last {
		return oldest
	}
	for o := range t.Open() {
		if kind(o) {
			oldest = min(oldest, o.Call)
		}
	}
	return oldest
}

// Open yields the operations under way.
func (t *Trace) Open() iter.Seq[*Op] {
	return func(yield func(*Op) bool) {
		for _, p := range t.busy {
			for _, o := range p.Open {
				if !yield(o) {
					return
				}
			}
		}
	}
}

func (t *Trace) oldestOpen(kind func(*Op) bool, none time.Duration) func(lock *LockInfo) time.Duration {
	oldest := map[*LockInfo]time.Duration{}
	for o := range t.Open() {
		if at, ok := oldest[o.info]; kind(o) && (!ok || o.Call < at) {
			oldest[o.info] = o.Call
		}
	}
	return func(lock *LockInfo) time.Duration {
		if at, ok := oldest[lock]; ok {
			return at
		}
		return none
	}
}
