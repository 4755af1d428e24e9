package queue

import (
	"slices"
	"sync"
	"time"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// localQueue is a session's copy of one lock's queue. All contenders of the session share
// it, so that a release in this process grants the lock to the next contender in this
// process without a request to the servers.
//
// This is safe for the following reason. Once a contender's node has been in a list of the
// children, the nodes ahead of it can only go, since every later node gets a later place.
// (Downgraded readers are the exception, see mark.) The local queue holds at least the
// nodes that are ahead of the contender: those of the list, less those that are known to be
// gone. When the rule admits the contender among these, it admits it among those that are
// really left. A contender that has not been in a list may wait by the local queue, but is
// never granted the lock.
//
// For the same reason a turn ends for the session's other contenders when the release
// begins, not when the servers have answered it (see leaving): as long as the node of the
// releasing contender exists, no other session's turn can come, since the node of the next
// contender is ahead of theirs, too.
//
// So the session asks the servers for a list only when the contender that seems to be first
// has not been in one, or when a node of another session is gone. The local queue hears of
// the nodes of other sessions only while it watches them.
type localQueue struct {
	s     *session.Session
	now   func() time.Time // the time by the session's clock
	lines *localQueues
	dir   string
	kinds []string
	users int // contenders, and leases of permits; locked by lines

	mu      sync.Mutex              // in the order of internal/session/doc.go
	places  []Place                 // in order
	own     map[string]*Contender   // of this session, by node
	waiting map[string][]*Contender // of this session, by the node of the session that they wait for
	going   map[string]bool         // nodes of this session that are being deleted
	left    map[string]bool         // nodes that went while a list was under way
	flight  *flight                 // the list under way
	started int64                   // lists are numbered in the order they were requested
	applied int64                   // the number of the latest list in places
	fresh   time.Time               // until when a contender may be granted the lock by that list
	needed  int64                   // the nodes of other sessions in places are known to be old until this list
	passed  int64                   // a node of another session is gone: until this list those ahead of it may be gone, too
	memory  memory                  // of a semaphore's permits; nil: none
}

// memory is additional knowledge that holds as long as no other session can have come to
// the head of the queue. The local queue's lock is its lock.
type memory interface{ forget() }

// localQueues holds the local queues of one session.
type localQueues struct {
	givenUp givenUp

	mu    sync.Mutex
	all   map[localQueueKey]*localQueue
	turns map[localQueueKey]turn // the last turn at each queue
}

type localQueueKey struct{ dir, kind string }

// localQueuesKey is the key under which a session keeps its local queues.
type localQueuesKey struct{}

func localQueuesOf(s *session.Session) *localQueues {
	return s.Keep(localQueuesKey{}, func() any { return &localQueues{all: make(map[localQueueKey]*localQueue)} }).(*localQueues)
}

// localQueueOf returns the session's local queue of the queue at dir. The caller must call
// exit.
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

// exit ends the use that localQueueOf began.
func (q *localQueue) exit() {
	q.lines.mu.Lock()
	defer q.lines.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(q.lines.all, q.key())
	}
}

// at returns the local queues of the queue at dir.
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

// join puts a contender whose node has been created into the local queue.
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
		q.places[q.find(c.Node)].listed = q.started + 1 // as if it had been in that list
		if fresh := c.asked.Add(q.lookAgain()); fresh.After(q.fresh) {
			q.fresh = fresh
		}
	}
}

// leaving removes a contender's node from the local queue when its deletion begins: the
// holder has released the lock, or the contender gave up.
//
// It keeps the node of a writer with a downgraded reader: as long as that node exists the
// reader's node may still appear, ahead of all others.
func (q *localQueue) leaving(c *Contender) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.own[c.Node] == c && !c.downgraded {
		q.going[c.Node] = true
		q.drop(c.Node)
	}
}

// gone removes a node that is known to be deleted from the local queue, and wakes the
// contenders of this session that wait for it. The node of a contender that is taking
// permits stays until it is known which permits it has taken.
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

// drop removes a node from the local queue. q is locked.
func (q *localQueue) drop(node string) {
	if i := q.find(node); i >= 0 {
		q.places = slices.Delete(q.places, i, i+1)
	}
	delete(q.own, node)
	q.wake(node)
	q.wake(anyChange)
}

// old reports whether the nodes of other sessions in the local queue are known to be old: a
// change may have been missed, or one of the nodes is gone, and others may have gone with
// it or, when it was a writer's, have taken its place by a downgrade. q is locked.
func (q *localQueue) old() bool { return q.applied < max(q.needed, q.passed) }

// mark notes that a change by another session may have been missed. q is locked.
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

// outdated is mark for callers that have not locked q.
func (q *localQueue) outdated() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.mark()
}

// wake wakes the contenders that wait for a node of the session. q is locked.
func (q *localQueue) wake(node string) {
	for _, c := range q.waiting[node] {
		c.wake()
	}
	delete(q.waiting, node)
}

// stop ends a contender's wait for a node of the session.
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

// empty reports whether no contender of this session is in the local queue. Then the next
// contender cannot wait for one of them, and needs a list.
func (q *localQueue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.own) == 0
}

// nextList returns the number of the next list to be requested.
func (q *localQueue) nextList() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.started + 1
}

// lookAgain returns the largest age of a list by which a contender is granted the lock, and
// the longest time that a contender waits until the queue is listed again. A contender is
// not told when another client, such as an administrator, deletes its node. A holder is
// told within a session timeout, and a contender must not be granted the lock for a node
// that has been gone for longer.
func (q *localQueue) lookAgain() time.Duration { return q.s.Timeout() * 3 / 4 }

// has reports whether the contender's node still exists, as far as is known.
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
