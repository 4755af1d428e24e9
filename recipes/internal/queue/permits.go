package queue

import (
	"maps"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// permits holds the permits of a semaphore that are out, as the contender at the head of
// the queue knows them.
//
// The local queue passes this knowledge from one contender of the session to the next. Only
// the head of the queue takes permits. So as long as the head has passed from one contender
// of this session to the next, with no other session in between, no other session can have
// taken any. The permits that were out at the last look, plus those that this session has
// taken since, less those that it has given back, are at least the permits that are out
// now. When that leaves room, there is room.
//
// No other session was in between when the contender at the head had been listed before the
// last one took its permits and left, as ledger.before tells. A node between the two was in
// that list, and the local queue forgets its knowledge when a node of another session
// appears in a list or goes.
//
// The permits that this session gives back are free when the release begins: the requests
// of a session are carried out in their order, and until a server has deleted the node all
// other sessions count one permit more than there is.
type permits struct {
	size    int
	version int32             // of the shared size
	resized bool              // the shared size has changed since
	out     map[string]bool   // paths of the nodes, one for each permit
	changed []session.Watched // one of them fires when the permits or the shared size change
}

func (p *permits) used() int { return len(p.out) }

// ledger is a session's record of a semaphore's permits. The local queue's lock is its
// lock.
type ledger struct {
	known  *permits        // nil: a contender has to look
	before int64           // the latest list when the permits were looked at, or taken
	taken  map[string]bool // by this session: paths of the nodes
	freed  map[string]bool // by this session, but their nodes may still be there
	looks  int             // under way
	gone   []string        // the freed permits that were deleted during a look
}

// shortage tells whose permits are out when there is no room.
type shortage int

const (
	unknown   shortage = iota // a contender has to look
	ofOldSize                 // a contender has to read the size
	ofOthers                  // some belong to other sessions
	ofOurs                    // all belong to this session
)

// forget implements memory.
func (l *ledger) forget() { l.known = nil }

// short returns whose permits are out when there is no room.
func (l *ledger) short() shortage {
	for path := range l.known.out {
		if !l.taken[path] {
			return ofOthers
		}
	}
	return ofOurs
}

// learn records the permits that the head of the queue, a contender of this session, has
// seen. list was the latest list then.
func (l *ledger) learn(seen *permits, list int64) {
	for path := range l.freed {
		delete(seen.out, path)
	}
	l.known = &permits{size: seen.size, version: seen.version, out: maps.Clone(seen.out)}
	l.before = list
}

// take adds the permits that this session has taken. list was the latest list then.
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

// free removes permits whose nodes are about to be deleted.
func (l *ledger) free(paths []string) {
	for _, path := range paths {
		delete(l.taken, path)
		l.freed[path] = true
		if l.known != nil {
			delete(l.known.out, path)
		}
	}
}

// deleted is called when the node of a permit is known to be gone. A look that is under way
// may still have seen the node.
func (l *ledger) deleted(path string) {
	if l.looks > 0 {
		l.gone = append(l.gone, path)
		return
	}
	delete(l.freed, path)
}

// looked is called when the result of a look has been learned.
func (l *ledger) looked() {
	if l.looks--; l.looks > 0 {
		return
	}
	for _, path := range l.gone {
		delete(l.freed, path)
	}
	l.gone = nil
}
