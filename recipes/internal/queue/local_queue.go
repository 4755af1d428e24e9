package queue

import (
	"slices"
	"sync"
	"time"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// localQueue is what a session knows of one lock's queue. All contenders of the
// session share it, so that a release in this process grants to the next
// contender in this process without a request to the servers.
//
// What makes that safe: once a contender's node has stood in a list of the
// children, the nodes ahead of it can only go, since every later node gets a
// later place. (Downgraded readers are the exception, see mark.) The local queue holds
// at least the nodes that are ahead of it: those of the list, less the ones that
// are known to have gone. When the rule admits the contender among these, it
// admits it among those that are really left. A contender that has not stood in
// a list may wait on the strength of the local queue, but is never granted.
//
// For the same reason a turn ends for the session's other contenders when the
// release begins, not when the servers have answered it (see leaving): as long
// as the node of the one is there, nobody else's turn can come, since the node of
// the next is ahead of everybody else's, too.
//
// So the servers are asked for a list only when the one who seems to be first
// has not been seen in one, or when a node of another session, of whose kind the
// line hears only as long as it is watched, has gone.
type localQueue struct {
	s     *session.Session
	now   func() time.Time // by the session's clock
	lines *localQueues
	dir   string
	kinds []string
	users int // contenders, and leases of permits; locked by lines

	mu      sync.Mutex              // in the order of internal/session/doc.go
	places  []Place                 // in order
	own     map[string]*Contender   // of this session, by node
	waiting map[string][]*Contender // of this session, by the own node they wait for
	going   map[string]bool         // nodes of this session that are being deleted
	left    map[string]bool         // nodes that have gone while a list was under way
	flight  *flight                 // the list under way
	started int64                   // lists are numbered in the order they were requested
	applied int64                   // the latest list that is in places
	fresh   time.Time               // until when a contender may be granted the lock by that list
	needed  int64                   // what stands in places of other sessions is known to be old until this list
	passed  int64                   // a node of another session has gone: those ahead of it may have, too, until this list
	memory  memory                  // of a semaphore's permits; nil: none
}

// memory is what is known besides the queue as long as no other session can have
// come to its head. The local queue's lock is its lock.
type memory interface{ forget() }

// localQueues are the lines of one session.
type localQueues struct {
	givenUp givenUp

	mu    sync.Mutex
	all   map[localQueueKey]*localQueue
	turns map[localQueueKey]turn // the last ones of queues that follow one another
}

type localQueueKey struct{ dir, kind string }

// localQueuesKey is what a session keeps its lines under.
type localQueuesKey struct{}

func localQueuesOf(s *session.Session) *localQueues {
	return s.Keep(localQueuesKey{}, func() any { return &localQueues{all: make(map[localQueueKey]*localQueue)} }).(*localQueues)
}

// localQueueOf returns the session's view of the queue at dir; exit must follow.
func localQueueOf(s *session.Session, dir string, kinds []string) *localQueue {
	l := localQueuesOf(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	key := localQueueKey{dir, kinds[0]}
	q := l.all[key]
	if q == nil {
		q = &localQueue{
			s: s, now: s.Now, lines: l, dir: dir, kinds: kinds,
			own: make(map[string]*Contender), waiting: make(map[string][]*Contender), going: make(map[string]bool),
		}
		l.all[key] = q
	}
	q.users++
	return q
}

func (q *localQueue) key() localQueueKey { return localQueueKey{q.dir, q.kinds[0]} }

// exit ends what localQueueOf began.
func (q *localQueue) exit() {
	q.lines.mu.Lock()
	defer q.lines.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(q.lines.all, q.key())
	}
}

// at returns the lines of the queue at dir.
func (l *localQueues) at(dir string) []*localQueue {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []*localQueue
	for key, q := range l.all {
		if key.dir == dir {
			all = append(all, q)
		}
	}
	return all
}

// join puts a contender into the local queue whose node has been created.
func (q *localQueue) join(c *Contender) {
	p, _ := ParsePlace(c.Node, q.kinds)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.own[c.Node] = c
	c.joined = q.started
	if i, found := slices.BinarySearchFunc(q.places, p, order); !found {
		q.places = slices.Insert(q.places, i, p)
	}
	if c.follows() {
		q.places[q.find(c.Node)].listed = q.started + 1 // as if it had been
		if fresh := c.asked.Add(q.lookAgain()); fresh.After(q.fresh) {
			q.fresh = fresh
		}
	}
}

// leaving takes a contender's node out of the local queue whose deletion begins now: its
// holder has released it, or gave up.
//
// Not that of a writer with a downgraded reader: as long as it is there the
// reader's may still appear, ahead of everybody.
func (q *localQueue) leaving(c *Contender) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.own[c.Node] == c && !c.downgraded {
		q.going[c.Node] = true
		q.drop(c.Node)
	}
}

// gone takes a node out of the local queue that is known to be deleted, and wakes the
// contenders of this session that wait for it. The node of one that is taking permits stays
// until it is known what it has taken.
func (q *localQueue) gone(node string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.flight != nil {
		q.left[node] = true // the list may still have it
	}
	if q.going[node] {
		delete(q.going, node)
		return
	}
	c := q.own[node]
	if c != nil && c.permits != nil && c.permits.taking() {
		return
	}
	if c == nil || c.downgraded {
		q.passed = q.started + 1
		q.forget()
	}
	q.drop(node)
}

// drop takes a node out of the local queue. q is locked.
func (q *localQueue) drop(node string) {
	if i := q.find(node); i >= 0 {
		q.places = slices.Delete(q.places, i, i+1)
	}
	delete(q.own, node)
	q.wake(node)
	q.wake(anybody)
}

// old reports whether what the local queue knows of other sessions is known to be old: it
// may have missed something, or one of their nodes has gone, and others may have gone with
// it or, when it was a writer's, have been put in its place by a downgrade. q is locked.
func (q *localQueue) old() bool { return q.applied < max(q.needed, q.passed) }

// mark says that something of other sessions may have been missed.
func (q *localQueue) mark() {
	q.needed = q.started + 1
	q.forget()
}

// forget is called when another session may come, or have come, to the head of the
// queue.
func (q *localQueue) forget() {
	if q.memory != nil {
		q.memory.forget()
	}
}

// outdated is mark for those outside.
func (q *localQueue) outdated() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.mark()
}

// wake wakes the contenders that wait for an own node. q is locked.
func (q *localQueue) wake(node string) {
	for _, c := range q.waiting[node] {
		c.wake()
	}
	delete(q.waiting, node)
}

// stop ends a contender's wait for an own node.
func (q *localQueue) stop(c *Contender, node string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.permits != nil {
		c.permits.waitFor(false)
	}
	rest := slices.DeleteFunc(q.waiting[node], func(other *Contender) bool { return other == c })
	if len(rest) == 0 {
		delete(q.waiting, node)
	} else {
		q.waiting[node] = rest
	}
}

// empty reports whether no contender of this session is in the local queue: then the
// next one cannot wait for one of them, and needs a list.
func (q *localQueue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.own) == 0
}

// nextList is the number of a list that is requested from now on.
func (q *localQueue) nextList() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.started + 1
}

// lookAgain is how old a list may be that a contender is granted the lock by, and how long
// a contender waits at most until the queue is listed again. Nobody tells it when its own
// node is deleted by others, as by an administrator; a holder is told within a session
// timeout, and a contender must not be granted the lock for a node that has been gone for
// longer.
func (q *localQueue) lookAgain() time.Duration { return q.s.Timeout() * 3 / 4 }

// has reports whether the contender's node is still there, as far as is known.
func (q *localQueue) has(c *Contender) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.own[c.Node] == c
}

// find returns the index of a node in places, −1 if it is not there. q is locked.
func (q *localQueue) find(node string) int {
	p, _ := ParsePlace(node, q.kinds)
	if i, found := slices.BinarySearchFunc(q.places, p, order); found {
		return i
	}
	return -1
}

// ahead counts the contenders that are known to be ahead.
func (q *localQueue) ahead(c *Contender) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	p, _ := ParsePlace(c.Node, q.kinds)
	i, _ := slices.BinarySearchFunc(q.places, p, order)
	return i
}
