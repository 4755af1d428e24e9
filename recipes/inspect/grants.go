package inspect

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/recipes/internal/queue"
)

// admitted reports for each place of a queue whether the grant rule admits it.
func admitted(places []place) []bool {
	sorted := make([]queue.Place, len(places))
	for i, p := range places {
		sorted[i] = ruled(p)
	}
	holds := make([]bool, len(places))
	for i := range sorted {
		holds[i] = admits(sorted, i)
	}
	return holds
}

// ruled returns a place as the rules of recipes take it.
func ruled(p place) queue.Place {
	switch p.Kind {
	case kazooWrite:
		p.Kind = queue.Write
	case kazooRead:
		p.Kind = queue.Read
	}
	return p.Place
}

// admits reports whether the grant rule admits a place of a queue.
func admits(sorted []queue.Place, i int) bool {
	rule := queue.Rule(queue.Exclusive)
	if sorted[i].Kind == queue.Read {
		rule = queue.Shared
	}
	return sorted[i].Kind == queue.Permit || rule(sorted, i) < 0
}

// recipeOf returns the recipe of a queue.
func recipeOf(places []place) Recipe {
	switch {
	case len(places) == 0:
		return Unknown
	case places[0].kind == KindCandidate:
		return Election
	case places[0].kind == KindPermit:
		return Semaphore
	case slices.ContainsFunc(places, func(p place) bool { return p.kind == KindRead || p.kind == KindWrite }):
		return ReadWrite
	}
	return Mutex
}

// kindIn returns the kind of a place in a lock of a recipe. Writers of
// kazoo's read/write lock have the names of contenders of its mutex.
func kindIn(recipe Recipe, p place) Kind {
	if recipe == ReadWrite && p.kind == KindLock {
		return KindWrite
	}
	return p.kind
}

// Blocks reports whether a holder blocks a waiter of the same lock: the waiter waits at
// least until the holder is gone. A single permit blocks no waiter, unless one session has
// all of them. Candidates of an election do other work while they wait.
func (l *Lock) Blocks(holder, waiter *Contender) bool {
	switch l.Recipe {
	case Mutex:
		return true
	case ReadWrite: // a reader that waits for a waiting writer waits for that writer's holders
		return true
	case Semaphore:
		return !slices.ContainsFunc(l.Holders(), func(c *Contender) bool { return c.Session != holder.Session })
	}
	return false
}

// inRound reports whether a member belongs to the round of a double barrier: its node
// existed when the round began, or the round lists it.
func (r *Round) inRound(name string, zxid int64) bool {
	return zxid < r.zxid || slices.Contains(r.Listed, name)
}

// Age returns the time since an instant. It is 0 if the local clock is behind the leader's.
func Age(now, since time.Time) time.Duration { return max(0, now.Sub(since)) }
