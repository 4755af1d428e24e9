package queue

// turn is a past turn of a session at the head of a queue: the node was deleted.
type turn struct {
	zxid int64 // of the transaction that created the node; 0: there was no turn
	runs int   // how many turns before followed one another
}

// likelyRuns is the number of turns that have to follow one another until the next is
// expected to follow too. A turn that was expected to follow and does not costs one more
// round trip: the list was not requested with the create.
const likelyRuns = 8

// likely reports whether the next turn is expected to follow this one.
func (t turn) likely() bool { return t.runs >= likelyRuns }

// follows reports whether the contender's node is known to be at the head of the queue
// without a list, because nothing but the delete of the previous head has happened at the
// servers. Each transaction has the number after the one before it, whether it is of this
// queue or not. The delete had been answered when the create was sent, so it is the one
// transaction between the two creates.
//
// An answer that comes while the create is under way would not do: the delete may then be
// behind the create, and the transaction between the creates may create the node of another
// session (BUG_FOLLOWS_UNSEEN in spec/create.pml).
func (c *Contender) follows() bool {
	return c.q.exclusive(c) && c.before.zxid != 0 && c.Zxid == c.before.zxid+2
}

// exclusive reports whether the contender's turn comes when its node is at the head, and
// not before.
func (q *localQueue) exclusive(c *Contender) bool {
	return q.kinds[0] == Lock && !c.custom && c.permits == nil
}

// lastTurn returns the session's last turn at a queue.
func (l *localQueues) lastTurn(q *localQueue) turn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.turns[q.key()]
}

// maxTurns bounds the number of queues of which a session remembers the last turn.
const maxTurns = 1000

// turnEnded records a contender's turn: its node is known to be deleted.
func (l *localQueues) turnEnded(c *Contender) {
	c.q.mu.Lock()
	atHead := c.atHead && c.q.exclusive(c)
	c.q.mu.Unlock()
	if !atHead {
		return
	}
	t := turn{zxid: c.Zxid}
	if c.follows() {
		t.runs = c.before.runs + 1
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.turns) >= maxTurns {
		clear(l.turns)
	}
	if l.turns == nil {
		l.turns = make(map[localQueueKey]turn)
	}
	l.turns[c.q.key()] = t
}
