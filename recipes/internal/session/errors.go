package session

import (
	"errors"
	"strings"
)

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

// Errors holds the errors of one call, and prints them in one line.
type Errors []error

func (e Errors) Error() string {
	var all []string
	for _, err := range e {
		all = append(all, err.Error())
	}
	return strings.Join(all, "; ")
}

// Unwrap returns the errors.
func (e Errors) Unwrap() []error { return e }
