package recipes

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
type permits struct {
	size    int
	version int32           // of the shared size
	out     map[string]bool // paths of the nodes, one a permit
	changed []watched       // one of them fires when something of this changes
}

func (p *permits) used() int { return len(p.out) }

// knownPermits returns what is known of the permits when c is at the head of the
// queue, or nil.
func (q *line) knownPermits(c *contender) *permits {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := q.find(c.node); i < 0 || q.places[i].listed > q.before {
		q.permits = nil
	}
	if q.permits == nil {
		return nil
	}
	known := *q.permits
	known.out = make(map[string]bool, len(q.permits.out))
	for path := range q.permits.out {
		known.out[path] = true
	}
	return &known
}

// learnPermits keeps what the head of the queue, a contender of this session,
// has seen.
func (q *line) learnPermits(seen *permits) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.permits = &permits{size: seen.size, version: seen.version, out: make(map[string]bool)}
	for path := range seen.out {
		q.permits.out[path] = true
	}
}

// tookPermits adds what the head of the queue has taken, before it leaves.
func (q *line) tookPermits(paths []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.before = q.applied
	if q.permits == nil {
		return
	}
	for _, path := range paths {
		q.permits.out[path] = true
	}
}

// freedPermit takes a permit off whose node is known to be gone.
func (q *line) freedPermit(path string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.permits != nil {
		delete(q.permits.out, path)
	}
}
