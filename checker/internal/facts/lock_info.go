package facts

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// LockInfo holds the facts of a lock.
type LockInfo struct {
	Lock       string
	Recipe     histories.Recipe
	at         int           // in order of appearance
	Operations int           // invoked
	Got        int           // times that the lock was acquired, or the barrier passed
	Granted    time.Duration // when the last hold of it began; 0 if there was none
	GrantedTo  int           // the process of that hold
	touched    bool          // it had an event in this window
	holds      []*Hold       // of this window, if it is touched
	owned      owned
	held       held
}

// Number returns the number of the lock, from 0, in order of appearance.
func (l *LockInfo) Number() int { return l.at }

// Holds returns the holds of this window, if the lock had an event in it.
func (l *LockInfo) Holds() []*Hold { return l.holds }

// PerLock holds a T for each lock that a judge has asked for. It finds a T by the number of the
// lock, not by its name: there may be a million locks.
type PerLock[T any] struct{ all []*T }

// Of returns the T of a lock, nil if it has none.
func (p *PerLock[T]) Of(lock *LockInfo) *T {
	if lock == nil || lock.at >= len(p.all) {
		return nil
	}
	return p.all[lock.at]
}

// Make returns the T of a lock, and creates it if it has none.
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

// Every reports true for every recipe.
func Every(histories.Recipe) bool { return true }

// Is returns a function that reports whether a recipe is one of some.
func Is(some ...histories.Recipe) func(histories.Recipe) bool {
	return func(r histories.Recipe) bool { return slices.Contains(some, r) }
}
