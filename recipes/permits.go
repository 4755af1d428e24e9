package recipes

import "maps"

// permits is what the one at the head of a semaphore's queue knows of those that
// are out.
//
// The line keeps it from one contender of the session to the next. Only the head
// of the queue takes permits. So as long as the place at the head has gone from
// one contender of this session to the next, with nobody in between, no other
// session can have taken any: what was out when it was last looked at, and what
// this session has taken since, less what it has given back, is at least what is
// out now. When that leaves room, there is room.
//
// Nobody was in between when the contender at the head had been listed before
// the last one took its permits and left, as line.before tells: whoever stood
// between the two was in that list, and a node of another session in a list, or
// the going of one, makes the line forget what it knows.
//
// What this session gives back is free when its release begins: the requests of
// a session are carried out in their order, and until a server has deleted the
// node all others count one permit more than there is.
type permits struct {
	size    int
	version int32           // of the shared size
	out     map[string]bool // paths of the nodes, one a permit
	changed []watched       // one of them fires when something of this changes
}

func (p *permits) used() int { return len(p.out) }

// ledger is what a session remembers of a semaphore's permits. The line's lock
// is its lock.
type ledger struct {
	known  *permits        // nil: somebody has to look
	before int64           // the latest list when they were looked at, or taken
	taken  map[string]bool // by this session: paths of the nodes
	freed  map[string]bool // by this session, but their nodes may still be there
	looks  int             // under way
	gone   []string        // of the freed, during a look
}

// aPermit is what the head of a semaphore's queue waits for in the line when
// permits of this session are out.
const aPermit = "/"

// shortage says whose permits are out when there is no room.
type shortage int

const (
	unknown  shortage = iota // somebody has to look
	ofOthers                 // some are other sessions'
	ofOurs                   // all are this session's
)

// takeOrWait starts a take for the contender at the head of the queue when what
// is known leaves room. When it does not, the contender is registered to be woken
// as soon as this session gives a permit back.
func (q *line) takeOrWait(c *contender) (*take, shortage, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := q.find(c.node)
	if q.own[c.node] != c || i < 0 {
		return nil, unknown, errNodeGone
	}
	l := &q.ledger
	if q.places[i].listed > l.before {
		l.known = nil
	}
	if l.known == nil {
		return nil, unknown, nil
	}
	if room := l.known.size - l.known.used(); room >= c.asks.n {
		return q.startTake(i, room), unknown, nil
	}
	q.waiting[aPermit] = append(q.waiting[aPermit], c)
	for path := range l.known.out {
		if !l.taken[path] {
			return nil, ofOthers, nil
		}
	}
	return nil, ofOurs, nil
}

// learnPermits keeps what the head of the queue, a contender of this session,
// has seen.
func (q *line) learnPermits(seen *permits) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := &q.ledger
	for path := range l.freed {
		delete(seen.out, path)
	}
	l.known = &permits{size: seen.size, version: seen.version, out: maps.Clone(seen.out)}
	l.before = q.applied
}

// tookPermits adds what this session has taken. q is locked.
func (q *line) tookPermits(paths []string) {
	l := &q.ledger
	if l.taken == nil {
		l.taken, l.freed = make(map[string]bool), make(map[string]bool)
	}
	l.before = q.applied
	for _, path := range paths {
		l.taken[path] = true
		if l.known != nil {
			l.known.out[path] = true
		}
	}
}

// freePermits takes permits off whose nodes are about to be deleted.
func (q *line) freePermits(paths []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := &q.ledger
	for _, path := range paths {
		delete(l.taken, path)
		l.freed[path] = true
		if l.known != nil {
			delete(l.known.out, path)
		}
	}
	q.wake(aPermit)
}

// permitGone is called when the node of a permit is known to be gone. A look
// that is under way may still have seen it.
func (q *line) permitGone(path string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ledger.looks > 0 {
		q.ledger.gone = append(q.ledger.gone, path)
		return
	}
	delete(q.ledger.freed, path)
}

// looking is called before the permits are looked at, and the function that it
// returns when what was seen has been learned.
func (q *line) looking() (done func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := &q.ledger
	l.looks++
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if l.looks--; l.looks > 0 {
			return
		}
		for _, path := range l.gone {
			delete(l.freed, path)
		}
		l.gone = nil
	}
}
