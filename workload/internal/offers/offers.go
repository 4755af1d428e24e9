// Package offers says which recipes the client of a lock offers, and what gets the locks
// of each.
package offers

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// Offerer is implemented by clients that have the methods of recipes which they do
// not offer, as clients in worker processes do.
type Offerer interface{ Offers(histories.Recipe) bool }

// Has reports whether a client offers a recipe.
func Has(c lock.Client, r histories.Recipe) (ok bool) {
	if o, says := c.(Offerer); says {
		return o.Offers(r)
	}
	switch r {
	case histories.Mutex:
		ok = true
	case histories.NonReentrant:
		_, ok = c.(lock.NonReentrantLocker)
	case histories.ReadWrite:
		_, ok = c.(lock.ReadWriteLocker)
	case histories.MultiLock:
		_, ok = c.(lock.MultiLocker)
	case histories.Semaphore:
		_, ok = c.(lock.SemaphoreLocker)
	case histories.SharedSemaphore:
		_, ok = c.(lock.SharedSemaphoreLocker)
	case histories.Revocation:
		_, ok = c.(lock.RevocableLocker)
	case histories.Handoff:
		_, ok = c.(lock.HandoffLocker)
	case histories.Barrier:
		_, ok = c.(lock.BarrierClient)
	case histories.DoubleBarrier:
		_, ok = c.(lock.DoubleBarrierClient)
	}
	return ok
}

// All returns the recipes that a client offers, in the order of histories.Recipes.
func All(c lock.Client) []histories.Recipe {
	return slices.DeleteFunc(histories.Recipes(), func(r histories.Recipe) bool { return !Has(c, r) })
}

// Locker returns what gets the locks of a recipe one by one, in a mode if
// there are modes. It is an error if the client does not offer the recipe.
func Locker(target lock.Client, recipe histories.Recipe, mode histories.Mode) (lock.Locker, error) {
	switch recipe {
	case histories.Mutex:
		return target, nil
	case histories.NonReentrant:
		if t, ok := target.(lock.NonReentrantLocker); ok {
			return t.NonReentrant(), nil
		}
	case histories.ReadWrite:
		if t, ok := target.(lock.ReadWriteLocker); ok {
			read, write := t.ReadWrite()
			if mode == histories.ModeWrite {
				return write, nil
			}
			return read, nil
		}
	case histories.MultiLock:
		if t, ok := target.(lock.MultiLocker); ok {
			return t.Alone(), nil
		}
	case histories.Revocation:
		if t, ok := target.(lock.RevocableLocker); ok {
			return t.Revocable(), nil
		}
	case histories.Handoff:
		if t, ok := target.(lock.HandoffLocker); ok {
			return t.Handoff(), nil
		}
	}
	return nil, Missing(recipe)
}

// Permits returns what gets the permits of a recipe.
func Permits(target lock.Client, recipe histories.Recipe) (lock.PermitLocker, error) {
	switch recipe {
	case histories.Semaphore:
		if t, ok := target.(lock.SemaphoreLocker); ok {
			return t.Semaphore(), nil
		}
	case histories.SharedSemaphore:
		if t, ok := target.(lock.SharedSemaphoreLocker); ok {
			return t.SharedSemaphore(), nil
		}
	}
	return nil, Missing(recipe)
}

// Missing is the error of a client that lacks a recipe.
func Missing(recipe histories.Recipe) error {
	return fmt.Errorf("the target offers no %s", recipe)
}
