package queue

import "errors"

// request is what a contender wants of a semaphore, and what comes of it. It is
// locked by the local queue.
type request struct {
	pool      *Pool
	n         int
	guid      string // of the permits' nodes
	waiting   bool   // for the one before it, of the same session
	batch     *batch // that includes it
	abandoned bool   // it has left meanwhile
	on        Grant  // what the batch has given it
	err       error  // or has not
}

// errAskAgain ends a batch that has given a contender nothing, through no fault
// of its own.
var errAskAgain = errors.New("the batch failed for another")

// requestOf is what a contender of a semaphore asks for.
func requestOf(c *Contender) *request { return c.permits.(*request) }

func (a *request) waitFor(own bool) { a.waiting = own }
func (a *request) given() bool      { return a.batch != nil }

// taking reports whether a batch is under way that includes the contender. Its
// transaction deletes the contender's node: until it is known what was taken the
// next one's turn must not come.
func (a *request) taking() bool { return a.batch != nil && !a.batch.over }

// batchOf returns the batch that includes a contender, if there is one.
func batchOf(c *Contender) *batch {
	c.q.mu.Lock()
	defer c.q.mu.Unlock()
	return requestOf(c).batch
}

// undo gives back, in the background, what a batch has given to a contender that
// has gone.
func (a *request) undo(c *Contender) {
	if a.err != nil {
		c.LeaveInBackground()
		return
	}
	c.S.Spawn(func() { a.on.Release(false) })
}
