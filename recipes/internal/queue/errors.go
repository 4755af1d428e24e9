package queue

import "errors"

// Errors that callers of the recipes get.
var (
	ErrNotAcquired = errors.New("recipes: lock not acquired")
	ErrLeaseLost   = errors.New("recipes: lease lost")
	ErrNotHeld     = errors.New("recipes: lock not held")
	ErrBadRule     = errors.New("recipes: the grant rule lets a contender wait for one behind it")
	ErrSequenceEnd = errors.New("recipes: the sequence numbers of the lock's node are at their end")
	ErrBadCount    = errors.New("recipes: bad shared count")
)
