package facts

import (
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// LockInfo is what is known of a lock.
type LockInfo struct {
	Lock       string
	Recipe     histories.Recipe
	at         int     // in order of appearance
	Operations int     // invoked
	Got        int     // times that it was acquired, or a barrier passed
	touched    bool    // something happened in this window
	holds      []*Hold // of this window, if it is touched
	owned      owned
	held       held
}

// Number is that of the lock among all, from 0, in order of appearance.
func (l *LockInfo) Number() int { return l.at }

// Holds are those of this window, if something happened in the lock in it.
func (l *LockInfo) Holds() []*Hold { return l.holds }

// PerLock has a T for each lock that a judge has asked for. It finds that by the number of the
// lock, not by its name: there may be a million of them.
type PerLock[T any] struct{ all []*T }

// Of returns that of a lock, nil if there is none.
func (p *PerLock[T]) Of(lock *LockInfo) *T {
	if lock == nil || lock.at >= len(p.all) {
		return nil
	}
	return p.all[lock.at]
}

// Make returns that of a lock, and makes it if there is none.
func (p *PerLock[T]) Make(lock *LockInfo, begin func() *T) *T {
	if of := p.Of(lock); of != nil {
		return of
	}
	for lock.at >= len(p.all) {
		p.all = append(p.all, nil)
	}
	of := begin()
	p.all[lock.at] = of
	return of
}

// Every is of every recipe.
func Every(histories.Recipe) bool { return true }

// Is returns whether a recipe is one of some.
func Is(some ...histories.Recipe) func(histories.Recipe) bool {
	return func(r histories.Recipe) bool { return slices.Contains(some, r) }
}
