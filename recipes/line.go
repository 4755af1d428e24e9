package recipes

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"
)

// line is what a session knows of one lock's queue. All contenders of the
// session share it, so that a release in this process grants to the next
// contender in this process without a word to the servers.
//
// What makes that safe: once a contender's node has stood in a list of the
// children, the nodes ahead of it can only go, since every later node gets a
// later place. (Downgraded readers are the exception, see mark.) The line holds
// at least the nodes that are ahead of it: those of the list, less the ones that
// are known to have gone. When the rule admits the contender among these, it
// admits it among those that are really left. A contender that has not stood in
// a list may wait on the strength of the line, but is never granted.
//
// For the same reason a turn ends for the session's other contenders when the
// release begins, not when the servers have answered it (see leaving): as long
// as the node of the one is there, nobody else's turn can come, since the node of
// the next is ahead of everybody else's, too.
//
// So the servers are asked for a list only when the one who seems to be first
// has not been seen in one, or when a node of another session, of whose kind the
// line hears only as long as it is watched, has gone.
type line struct {
	s     *session
	dir   string
	kinds []string
	users int // contenders, and leases of permits; locked by the session

	mu      sync.Mutex
	places  []Place                 // in order
	own     map[string]*contender   // of this session, by node
	waiting map[string][]*contender // of this session, by the own node they wait for
	going   map[string]bool         // nodes of this session that are being deleted
	left    map[string]bool         // nodes that have gone while a list was under way
	flight  *flight                 // the list under way
	started int64                   // lists are numbered in the order they were requested
	applied int64                   // the latest list that is in places
	needed  int64                   // what stands in places of other sessions is known to be old until this list
	ledger  ledger                  // of a semaphore's queue
}

type lineKey struct{ dir, kind string }

// flight is a list under way.
type flight struct {
	number int64
	done   chan struct{}
	err    error
}

// line returns the session's view of the queue at dir; leaveLine must follow.
func (s *session) line(dir string, kinds []string) *line {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := lineKey{dir, kinds[0]}
	q := s.lines[key]
	if q == nil {
		q = &line{
			s: s, dir: dir, kinds: kinds,
			own: make(map[string]*contender), waiting: make(map[string][]*contender), going: make(map[string]bool),
		}
		s.lines[key] = q
	}
	q.users++
	return q
}

func (s *session) leaveLine(q *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(s.lines, lineKey{q.dir, q.kinds[0]})
	}
}

// join puts a contender into the line whose node has been created.
func (q *line) join(c *contender) {
	p, _ := parsePlace(c.node, q.kinds)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.own[c.node] = c
	c.joined = q.started
	if i, found := slices.BinarySearchFunc(q.places, p, order); !found {
		q.places = slices.Insert(q.places, i, p)
	}
}

// leaving takes a contender's node out of the line whose deletion begins now: its
// holder has released it, or gave up.
//
// Not that of a writer with a downgraded reader: as long as it is there the
// reader's may still appear, ahead of everybody.
func (q *line) leaving(c *contender) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.own[c.node] == c && !c.downgraded {
		q.going[c.node] = true
		q.drop(c.node)
	}
}

// gone takes a node out of the line that is known to be deleted, and wakes the
// contenders of this session that wait for it.
func (q *line) gone(node string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.flight != nil {
		q.left[node] = true // the list may still have it
	}
	if q.going[node] {
		delete(q.going, node)
		return
	}
	if c := q.own[node]; c == nil || c.downgraded {
		q.mark()
	}
	q.drop(node)
}

// drop takes a node out of the line. q is locked.
func (q *line) drop(node string) {
	if i := q.find(node); i >= 0 {
		q.places = slices.Delete(q.places, i, i+1)
	}
	delete(q.own, node)
	q.wake(node)
	q.wake(anybody)
}

// mark says that what the line knows of other sessions is old: one of their
// nodes has gone, and others may have gone or, when it was a writer's, have been
// put in its place by a downgrade.
func (q *line) mark() {
	q.needed = q.started + 1
	q.ledger.known = nil
}

// outdated is mark for those outside.
func (q *line) outdated() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.mark()
}

// wake wakes the contenders that wait for an own node. q is locked.
func (q *line) wake(node string) {
	for _, c := range q.waiting[node] {
		c.wake()
	}
	delete(q.waiting, node)
}

// stop ends a contender's wait for an own node.
func (q *line) stop(c *contender, node string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.asks != nil {
		c.asks.waiting = false
	}
	rest := slices.DeleteFunc(q.waiting[node], func(other *contender) bool { return other == c })
	if len(rest) == 0 {
		delete(q.waiting, node)
	} else {
		q.waiting[node] = rest
	}
}

// anybody is what contenders with a rule of the user's wait for: which of those
// ahead has to go is for the rule to say each time.
const anybody = ""

// verdict is what the line knows about a contender's turn.
type verdict struct {
	granted bool
	own     string // wait for this node of the session: the contender will be woken
	other   string // wait for this node of another session
	any     bool   // wait until anybody goes: the contender will be woken for nodes of the session
	list    int64  // or for this list
}

// judge applies the contender's rule. When the verdict is to wait for an own
// node the contender is registered to be woken.
//
// One that does not wait is not refused for a node of another session until it has
// stood in a list itself: a list from before its own node was made may be of a
// server that lags behind, and that node have been gone when the call began.
func (q *line) judge(c *contender, block bool) (verdict, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.asks != nil && c.asks.take != nil {
		return verdict{granted: true}, nil // somebody ahead takes for it, too
	}
	if q.own[c.node] != c {
		return verdict{}, errNodeGone // not in the list is not first in it (zk.Lock grants twice here)
	}
	p, _ := parsePlace(c.node, q.kinds)
	places := q.s.givenUp.standing(q.places)
	i, _ := slices.BinarySearchFunc(places, p, order)
	ahead := c.rule(places, i)
	if ahead >= i || ahead < granted {
		return verdict{}, ErrBadRule
	}
	list := q.started + 1
	if q.flight != nil && q.flight.number >= q.needed {
		list = q.flight.number // requested with the node's create: it most likely has it
	}
	switch {
	case ahead < 0 && places[i].listed == 0:
		return verdict{list: list}, nil
	case ahead < 0:
		if q.applied < q.needed && q.kinds[0] != lockKind {
			return verdict{list: list}, nil // there may be a downgraded reader ahead
		}
		return verdict{granted: true}, nil
	}
	unsure := !block && places[i].listed == 0
	if c.custom && unsure {
		return verdict{list: list}, nil
	}
	if c.custom {
		q.waiting[anybody] = append(q.waiting[anybody], c)
		return verdict{any: true}, nil
	}
	blocker := places[ahead].Node
	if q.own[blocker] == nil {
		if q.applied < q.needed || unsure {
			return verdict{list: list}, nil
		}
		// If another one would have to be waited for without the blocker, wait
		// for that one first. When it goes, the list that tells who is left
		// comes while the blocker has its turn, not after.
		without := slices.Delete(slices.Clone(places[:i+1]), ahead, ahead+1)
		if earlier := c.rule(without, i-1); earlier >= 0 && earlier < ahead {
			blocker = places[earlier].Node
		}
	}
	if q.own[blocker] != nil {
		if i == 1 && places[i].listed == 0 {
			return verdict{list: list}, nil // the next one's list comes while the first has its turn
		}
		q.waiting[blocker] = append(q.waiting[blocker], c)
		if c.asks != nil {
			c.asks.waiting = true
		}
		return verdict{own: blocker}, nil
	}
	return verdict{other: blocker}, nil
}

// empty reports whether no contender of this session is in the line: then the
// next one cannot wait for one of them, and needs a list.
func (q *line) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.own) == 0
}

// nextList is the number of a list that is requested from now on.
func (q *line) nextList() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.started + 1
}

// has reports whether the contender's node is still there, as far as is known.
func (q *line) has(c *contender) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.own[c.node] == c
}

// find returns the index of a node in places, −1 if it is not there. q is locked.
func (q *line) find(node string) int {
	p, _ := parsePlace(node, q.kinds)
	if i, found := slices.BinarySearchFunc(q.places, p, order); found {
		return i
	}
	return -1
}

// ahead counts the contenders that are known to be ahead.
func (q *line) ahead(c *contender) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	p, _ := parsePlace(c.node, q.kinds)
	i, _ := slices.BinarySearchFunc(q.places, p, order)
	return i
}

// list waits until the list with this number, or a later one, has been applied.
// Those who need one at the same time share it.
func (q *line) list(ctx context.Context, number int64) error {
	for {
		q.mu.Lock()
		if q.applied >= number {
			q.mu.Unlock()
			return nil
		}
		f := q.flight
		q.mu.Unlock()
		if f == nil {
			if f = q.request(); f == nil {
				return errSessionEnded
			}
		}
		select {
		case <-f.done:
			if f.err != nil {
				return f.err
			}
		case <-q.s.ended:
			return errSessionEnded
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// request starts a list if none is under way. Its goroutine belongs to the
// session.
func (q *line) request() *flight {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.flight != nil {
		return q.flight
	}
	q.started++
	f := &flight{number: q.started, done: make(chan struct{})}
	if !q.s.spawn(func() { q.fetch(f) }) {
		return nil
	}
	q.flight, q.left = f, make(map[string]bool)
	return f
}

func (q *line) fetch(f *flight) {
	children, err := retry(q.s.quit, q.s, func() ([]string, error) {
		children, _, err := q.s.conn.Children(q.dir)
		return children, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		err = nil // nobody is left
	}
	places := queue(children, q.kinds)
	q.mu.Lock()
	defer q.mu.Unlock()
	if f.err = err; err == nil {
		q.apply(f.number, places)
	}
	q.flight = nil
	close(f.done)
}

// apply replaces what the line knows by a list.
func (q *line) apply(number int64, places []Place) {
	places = slices.DeleteFunc(places, func(p Place) bool { return q.left[p.Node] || q.going[p.Node] })
	listed := make(map[string]int64, len(q.places))
	for _, p := range q.places {
		listed[p.Node] = p.listed
	}
	present := make(map[string]bool, len(places))
	for i, p := range places {
		if places[i].listed = listed[p.Node]; places[i].listed == 0 {
			places[i].listed = number
		}
		present[p.Node] = true
	}
	other := func(p Place) bool { return q.own[p.Node] == nil }
	if slices.ContainsFunc(places, other) || slices.ContainsFunc(q.places, other) {
		q.ledger.known = nil // it may come, or have come, to the head of the queue
	}
	for node, c := range q.own {
		switch {
		case present[node]:
		case c.joined < number && !c.taking(): // somebody else deleted it
			delete(q.own, node)
			q.wake(node)
			c.wake()
		default: // created after the list was requested; or its own take has deleted it, and will say so
			p, _ := parsePlace(node, q.kinds)
			i, _ := slices.BinarySearchFunc(places, p, order)
			places = slices.Insert(places, i, p)
		}
	}
	q.places, q.applied = places, number
}
