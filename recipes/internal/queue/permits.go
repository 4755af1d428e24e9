package queue

import (
	"maps"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// permits is what the one at the head of a semaphore's queue knows of those that
// are out.
//
// The local queue keeps it from one contender of the session to the next. Only the head
// of the queue takes permits. So as long as the place at the head has gone from
// one contender of this session to the next, with nobody in between, no other
// session can have taken any: what was out when it was last looked at, and what
// this session has taken since, less what it has given back, is at least what is
// out now. When that leaves room, there is room.
//
// Nobody was in between when the contender at the head had been listed before
// the last one took its permits and left, as ledger.before tells: whoever stood
// between the two was in that list, and a node of another session in a list, or
// the going of one, makes the local queue forget what it knows.
//
// What this session gives back is free when its release begins: the requests of
// a session are carried out in their order, and until a server has deleted the
// node all others count one permit more than there is.
type permits struct {
	size    int
	version int32             // of the shared size
	out     map[string]bool   // paths of the nodes, one a permit
	changed []session.Watched // one of them fires when something of this changes
}

func (p *permits) used() int { return len(p.out) }

// ledger is what a session remembers of a semaphore's permits. The local queue's lock
// is its lock.
type ledger struct {
	known  *permits        // nil: somebody has to look
	before int64           // the latest list when they were looked at, or taken
	taken  map[string]bool // by this session: paths of the nodes
	freed  map[string]bool // by this session, but their nodes may still be there
	looks  int             // under way
	gone   []string        // of the freed, during a look
}

// shortage says whose permits are out when there is no room.
type shortage int

const (
	unknown  shortage = iota // somebody has to look
	ofOthers                 // some are other sessions'
	ofOurs                   // all are this session's
)

// forget implements memory.
func (l *ledger) forget() { l.known = nil }

// short says why there is no room.
func (l *ledger) short() shortage {
	for path := range l.known.out {
		if !l.taken[path] {
			return ofOthers
		}
	}
	return ofOurs
}

// learn keeps what the head of the queue, a contender of this session, has seen,
// when list was the latest list.
func (l *ledger) learn(seen *permits, list int64) {
	for path := range l.freed {
		delete(seen.out, path)
	}
	l.known = &permits{size: seen.size, version: seen.version, out: maps.Clone(seen.out)}
	l.before = list
}

// take adds what this session has taken, when list was the latest list.
func (l *ledger) take(paths []string, list int64) {
	if l.taken == nil {
		l.taken, l.freed = make(map[string]bool), make(map[string]bool)
	}
	l.before = list
	for _, path := range paths {
		l.taken[path] = true
		if l.known != nil {
			l.known.out[path] = true
		}
	}
}

// free takes permits off whose nodes are about to be deleted.
func (l *ledger) free(paths []string) {
	for _, path := range paths {
		delete(l.taken, path)
		l.freed[path] = true
		if l.known != nil {
			delete(l.known.out, path)
		}
	}
}

// deleted is called when the node of a permit is known to be gone. A look
// that is under way may still have seen it.
func (l *ledger) deleted(path string) {
	if l.looks > 0 {
		l.gone = append(l.gone, path)
		return
	}
	delete(l.freed, path)
}

// looked is called when what a look has seen has been learned.
func (l *ledger) looked() {
	if l.looks--; l.looks > 0 {
		return
	}
	for _, path := range l.gone {
		delete(l.freed, path)
	}
	l.gone = nil
}
