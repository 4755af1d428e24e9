package recipes

import "errors"

// asks is what a contender wants of a semaphore, and what comes of it. It is
// locked by the line.
type asks struct {
	sem       *Semaphore
	n         int
	guid      string // of the permits' nodes
	waiting   bool   // for the one before it, of the same session
	take      *take  // that includes it
	abandoned bool   // it has left meanwhile
	on        claim  // what the take has given it
	err       error  // or has not
}

// errAskAgain ends a take that has given a contender nothing, through no fault
// of its own.
var errAskAgain = errors.New("the take failed for another")

// taking reports whether a take is under way that includes the contender. Its
// transaction deletes the contender's node: until it is known what was taken the
// next one's turn must not come. The line is locked.
func (c *contender) taking() bool { return c.asks != nil && c.asks.take != nil && !c.asks.take.over }

// takeOf returns the take that includes a contender, if there is one.
func (q *line) takeOf(c *contender) *take {
	q.mu.Lock()
	defer q.mu.Unlock()
	return c.asks.take
}

// undo gives back, in the background, what a take has given to a contender that
// has gone.
func (a *asks) undo(c *contender) {
	if a.err != nil {
		c.leaveInBackground()
		return
	}
	c.s.spawn(func() { a.on.release(false) })
}
