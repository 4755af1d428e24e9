package session

import "errors"

// Errors that callers of the recipes get.
var (
	ErrClosed       = errors.New("recipes: client closed")
	ErrBadPath      = errors.New("recipes: bad lock path")
	ErrNotZooKeeper = errors.New("recipes: not a ZooKeeper server")
	ErrTooLarge     = errors.New("recipes: request too large")
)

var (
	// ErrEnded tells the engine that the session of a step has ended.
	ErrEnded = errors.New("recipes: session ended")

	// ErrNotNow tells the engine that a lease granted now would be lost already.
	ErrNotNow = errors.New("recipes: session cannot vouch for a lease now")

	// ErrNodeGone tells the engine that its own node is no longer in the queue although its
	// session is alive: another client deleted it.
	ErrNodeGone = errors.New("recipes: own node is gone")
)
