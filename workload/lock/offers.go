package lock

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// RecipesOf returns what a target offers, in the order of histories.Recipes.
func RecipesOf(t Target) []histories.Recipe {
	c, ok := t.(Collection)
	if !ok {
		return []histories.Recipe{histories.Recipe(t.Recipe())}
	}
	offers := c.Recipes()
	return slices.DeleteFunc(histories.Recipes(), func(r histories.Recipe) bool { return !slices.Contains(offers, r) })
}

// Offerer is implemented by clients that have the methods of recipes which they do
// not offer, as clients in worker processes do.
type Offerer interface{ Offers(histories.Recipe) bool }

// Offers reports whether a client has a recipe.
func Offers(c Client, r histories.Recipe) (ok bool) {
	if o, says := c.(Offerer); says {
		return o.Offers(r)
	}
	switch r {
	case histories.Mutex:
		ok = true
	case histories.NonReentrant:
		_, ok = c.(NonReentrantLocker)
	case histories.ReadWrite:
		_, ok = c.(ReadWriteLocker)
	case histories.MultiLock:
		_, ok = c.(MultiLocker)
	case histories.Semaphore:
		_, ok = c.(SemaphoreLocker)
	case histories.SharedSemaphore:
		_, ok = c.(SharedSemaphoreLocker)
	case histories.Revocation:
		_, ok = c.(RevocableLocker)
	case histories.Handoff:
		_, ok = c.(HandoffLocker)
	case histories.Barrier:
		_, ok = c.(BarrierClient)
	case histories.DoubleBarrier:
		_, ok = c.(DoubleBarrierClient)
	}
	return ok
}

// LockerOf returns what gets the locks of a recipe one by one, in a mode if
// there are modes. It is an error if the client does not offer the recipe.
func LockerOf(target Client, recipe histories.Recipe, mode histories.Mode) (Locker, error) {
	switch recipe {
	case histories.Mutex:
		return target, nil
	case histories.NonReentrant:
		if t, ok := target.(NonReentrantLocker); ok {
			return t.NonReentrant(), nil
		}
	case histories.ReadWrite:
		if t, ok := target.(ReadWriteLocker); ok {
			read, write := t.ReadWrite()
			if mode == histories.ModeWrite {
				return write, nil
			}
			return read, nil
		}
	case histories.MultiLock:
		if t, ok := target.(MultiLocker); ok {
			return t.Alone(), nil
		}
	case histories.Revocation:
		if t, ok := target.(RevocableLocker); ok {
			return t.Revocable(), nil
		}
	case histories.Handoff:
		if t, ok := target.(HandoffLocker); ok {
			return t.Handoff(), nil
		}
	}
	return nil, NotOffered(recipe)
}

// PermitsOf returns what gets the permits of a recipe.
func PermitsOf(target Client, recipe histories.Recipe) (PermitLocker, error) {
	switch recipe {
	case histories.Semaphore:
		if t, ok := target.(SemaphoreLocker); ok {
			return t.Semaphore(), nil
		}
	case histories.SharedSemaphore:
		if t, ok := target.(SharedSemaphoreLocker); ok {
			return t.SharedSemaphore(), nil
		}
	}
	return nil, NotOffered(recipe)
}

// NotOffered is the error of a client that lacks a recipe.
func NotOffered(recipe histories.Recipe) error {
	return fmt.Errorf("the target offers no %s", recipe)
}
