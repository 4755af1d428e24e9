package queue

import (
	"errors"
	"fmt"
)

// request is a contender's request for permits of a semaphore, and its outcome. It is
// locked by the local queue.
type request struct {
	pool      *Pool
	n         int
	guid      string // of the permits' nodes
	waiting   bool   // the contender waits for the one before it, of the same session
	batch     *batch // that includes the contender
	abandoned bool   // the contender has left meanwhile
	on        Grant  // the permits that the batch has given to it
	err       error  // why the batch has given none
}

// errAskAgain ends a batch that has given a contender no permits through no fault of the
// contender.
var errAskAgain = errors.New("the batch failed for another")

// errResized is errAskAgain when the shared size was changed, or its node deleted, after it had
// been read.
var errResized = fmt.Errorf("%w: the size has changed", errAskAgain)

// requestOf returns the request of a semaphore's contender.
func requestOf(c *Contender) *request { return c.permits.(*request) }

func (a *request) waitFor(own bool) { a.waiting = own }
func (a *request) given() bool      { return a.batch != nil }

// taking reports whether a batch that includes the contender is under way. Its transaction
// deletes the contender's node: until its outcome is known the next contender's turn must
// not come.
func (a *request) taking() bool { return a.batch != nil && !a.batch.over }

// batchOf returns the batch that includes a contender, if there is one.
func batchOf(c *Contender) *batch {
	c.q.mu.Lock()
	defer c.q.mu.Unlock()
	return requestOf(c).batch
}

// undo gives back, in the background, the permits that a batch has given to a contender
// that has left.
func (a *request) undo(c *Contender) {
	if a.err != nil {
		c.LeaveInBackground()
		return
	}
	c.S.Spawn(func() { a.on.Release(false) })
}
