package inspect

import (
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/internal/queue"
)

// End is the cause of the end of a contender's node.
type End string

// The ends of a contender.
const (
	EndReleased = End("released")        // its session deleted it: it released the lock, or gave up waiting
	EndClosed   = End("session closed")  // its client closed the session
	EndExpired  = End("session expired") // the servers ended the session
	EndDeleted  = End("deleted")         // another session deleted it, or it belonged to none
	EndNone     = End("still there")     // when the transactions end
	EndUnknown  = End("unknown")         // transactions are missing
)

// Stay is the time that a contender spent in a lock's queue, from its node's creation to its end.
type Stay struct {
	Lock   string
	Recipe Recipe
	// Contender has the node as it was created. Its Since is the time of the creation.
	Contender Contender
	// Granted is when the contender became a holder by the lock's rule, on the servers; zero if it
	// never did. Its client learns so later.
	Granted time.Time
	// Asked is when it came: Since, but of a permit the arrival in the queue.
	Asked time.Time
	Gone  time.Time // when its node went; of EndNone, the last transaction
	End   End
	By    int64 // the session that deleted the node, of EndReleased and EndDeleted
	// Ahead is the number of contenders that it found ahead of it.
	Ahead int
	// Overtook is the number of contenders that were there before it, and behind which it should
	// have stood. The order of a queue is that of its numbers, which end at 2³¹.
	Overtook int
}

// Waited returns the time until the grant, or until the contender was gone.
func (s *Stay) Waited() time.Duration {
	if s.Granted.IsZero() {
		return max(0, s.Gone.Sub(s.Asked))
	}
	return max(0, s.Granted.Sub(s.Asked))
}

// Held returns the time from the grant to the end, 0 without a grant.
func (s *Stay) Held() time.Duration {
	if s.Granted.IsZero() {
		return 0
	}
	return max(0, s.Gone.Sub(s.Granted))
}

// History follows the contenders of all locks through the transactions of servers, which are
// passed to it in their order. It knows locks by the names of their nodes, as [Find] does, but for
// double barriers and unknown recipes, and holders by the rules of their recipes. An acquire that
// was refused at once looks like one that gave up.
type History struct {
	ended    func(*Stay)
	lines    map[lineKey]*line
	nodes    map[string]*standing // by path
	sessions map[int64][]*standing
	permits  map[string]struct{} // semaphores
	// Unknown is the number of contenders that were deleted without having been created.
	Unknown int
}

// NewHistory returns a history of no transactions. It calls ended when a contender is gone.
func NewHistory(ended func(*Stay)) *History {
	return &History{
		ended: ended, lines: make(map[lineKey]*line), nodes: make(map[string]*standing),
		sessions: make(map[int64][]*standing), permits: make(map[string]struct{}),
	}
}

// Instant is the place of a transaction.
type Instant struct {
	Zxid int64
	Time time.Time
}

// lineKey names a queue: contenders of different rules in one folder do not see each other.
type lineKey struct{ dir, rule string }

// line is a queue, in its order.
type line struct {
	lineKey
	all       []*standing
	places    []queue.Place // as the rules take them, of the same contenders
	readWrite bool          // it has had readers, or writers
}

// standing is a contender whose node is there.
type standing struct {
	Stay
	place
	line  *line
	index int // in its session
	// waits is the contender of a semaphore's queue whose permit this is. It is granted when that
	// one has left the queue: Curator creates the permit before it looks whether there is room.
	waits   *standing
	permits bool // a contender of a semaphore's queue has created permits
}

// Create adds a node that a transaction has created, or a snapshot has. Session is 0 unless the
// node is ephemeral.
func (h *History) Create(path string, data []byte, session int64, at Instant) {
	cut := strings.LastIndexByte(path, '/')
	name := path[cut+1:]
	p, ok := parsePlace(name)
	dir := path[:max(cut, 0)]
	if !ok {
		if session == 0 || len(name) != hexDigits || !isHex(name) || h.lines[lineKey{dir + kazooSuffix, "kazoo"}] == nil {
			return
		}
		p = place{kind: KindPermit, library: LibraryKazoo, Place: queue.Place{Node: name, Kind: queue.Permit}}
	}
	if known := h.nodes[path]; known != nil {
		if known.Contender.Token.Zxid == at.Zxid {
			return
		}
		h.remove(known, EndUnknown, 0, at)
	}
	c := &standing{place: p}
	c.Contender = Contender{
		Path: path, Kind: p.kind, Library: p.library, Sequence: p.Sequence, Read: true, Data: slices.Clone(data[:min(len(data), maxData)]),
		Size: len(data), Session: session, Token: recipes.Token{Zxid: at.Zxid}, Since: at.Time,
	}
	c.Asked = at.Time
	h.nodes[path] = c
	c.index = len(h.sessions[session])
	h.sessions[session] = append(h.sessions[session], c)
	if p.kind == KindPermit {
		h.permit(c, dir, at)
		return
	}
	h.enqueue(c, lineKey{dir, p.rule()}, at)
}

func (h *History) enqueue(c *standing, key lineKey, at Instant) {
	l := h.lines[key]
	if l == nil {
		l = &line{lineKey: key}
		h.lines[key] = l
	}
	c.line = l
	i := len(l.all)
	for i > 0 && order(l.all[i-1].place, c.place) > 0 {
		i--
	}
	c.Ahead, c.Overtook = i, len(l.all)-i
	if i > 0 && l.all[i-1].Sequence == c.Sequence { // a reader that was downgraded from that writer
		c.Overtook = 0
	}
	l.all = slices.Insert(l.all, i, c)
	l.places = slices.Insert(l.places, i, ruled(c.place))
	l.readWrite = l.readWrite || c.kind == KindRead || c.kind == KindWrite
	l.grant(i, at.Time)
}

// grant notes that a contender holds the lock if its rule admits it.
func (l *line) grant(i int, at time.Time) (granted bool) {
	if !admits(l.places, i) {
		return false
	}
	if c := l.all[i]; c.Granted.IsZero() {
		c.Granted = at
	}
	return true
}

// permit adds a permit of a semaphore.
func (h *History) permit(c *standing, dir string, at Instant) {
	c.Recipe, c.Lock, c.Granted = Semaphore, dir, at.Time
	key := lineKey{dir + kazooSuffix, "kazoo"}
	if above, found := strings.CutSuffix(dir, "/"+leasesName); found && c.library != LibraryKazoo {
		c.Lock, key = above, lineKey{join(above, locksName), string(KindLock)}
	}
	if _, known := h.permits[c.Lock]; !known {
		h.permits[strings.Clone(c.Lock)] = struct{}{}
	}
	l := h.lines[key]
	if l == nil {
		return
	}
	for i, waiter := range l.all {
		if waiter.Contender.Session == c.Contender.Session {
			waiter.permits = true
			c.Asked, c.Ahead = waiter.Asked, waiter.Ahead
			if i == 0 {
				c.waits, c.Granted = waiter, time.Time{}
			}
			return
		}
	}
}

// Delete removes a node that a transaction of a session has deleted.
func (h *History) Delete(path string, session int64, at Instant) {
	c := h.nodes[path]
	switch {
	case c == nil:
		if _, ok := parsePlace(path[strings.LastIndexByte(path, '/')+1:]); ok {
			h.Unknown++
		}
	case c.Contender.Session == session && session != 0:
		h.remove(c, EndReleased, session, at)
	default:
		h.remove(c, EndDeleted, session, at)
	}
}

// CloseSession removes the nodes of a session that has ended.
func (h *History) CloseSession(session int64, expired bool, at Instant) {
	end := EndClosed
	if expired {
		end = EndExpired
	}
	h.removeAll(slices.Clone(h.sessions[session]), end, at)
}

// Interrupt says that transactions are missing from here on: the contenders that are there may be
// gone.
func (h *History) Interrupt(at Instant) { h.End(EndUnknown, at) }

// End ends all contenders that are left, as EndNone or EndUnknown, in the order of their creation.
func (h *History) End(how End, at Instant) {
	var all []*standing
	for _, c := range h.nodes {
		all = append(all, c)
	}
	h.removeAll(all, how, at)
}

// removeAll removes contenders, those of the back first: none is granted the lock meanwhile.
func (h *History) removeAll(all []*standing, end End, at Instant) {
	slices.SortFunc(all, func(a, b *standing) int { return b.Contender.Token.Compare(a.Contender.Token) })
	for _, c := range all {
		h.remove(c, end, 0, at)
	}
}

func (h *History) remove(c *standing, end End, by int64, at Instant) {
	delete(h.nodes, c.Contender.Path)
	session := c.Contender.Session
	others := h.sessions[session]
	last := others[len(others)-1]
	others[c.index], last.index = last, c.index
	if others = others[:len(others)-1]; len(others) == 0 {
		delete(h.sessions, session)
	} else {
		h.sessions[session] = others
	}
	c.Gone, c.End, c.By = at.Time, end, by
	if c.line != nil {
		h.leave(c, end, at)
	} else if c.waits != nil && c.waits.Gone.IsZero() && end == EndNone {
		c.Granted = time.Time{}
	}
	if c.permits && end == EndReleased {
		return // its permits are the stays
	}
	c.Contender.Holds = !c.Granted.IsZero()
	h.ended(&c.Stay)
}

// leave takes a contender out of its queue.
func (h *History) leave(c *standing, end End, at Instant) {
	l := c.line
	i := slices.Index(l.all, c)
	l.all, l.places = slices.Delete(l.all, i, i+1), slices.Delete(l.places, i, i+1)
	if len(l.all) == 0 {
		delete(h.lines, l.lineKey)
	}
	c.Lock, c.Recipe = l.dir, l.recipe(c)
	if above, found := h.semaphore(l); found {
		c.Lock, c.Recipe, c.Granted = above, Semaphore, time.Time{}
		if c.permits && end == EndReleased {
			h.admit(c, at)
		}
		return
	}
	c.Contender.Kind = kindIn(c.Recipe, c.place)
	if end == EndNone || end == EndUnknown {
		return
	}
	switch {
	case len(l.all) == 0:
	case !l.readWrite || c.kind == KindRead:
		l.grant(0, at.Time)
	default:
		for i := range l.all {
			if !l.grant(i, at.Time) {
				return
			}
		}
	}
}

// admit grants the permits that a contender of a semaphore's queue has created.
func (h *History) admit(waiter *standing, at Instant) {
	for _, c := range h.sessions[waiter.Contender.Session] {
		if c.waits == waiter {
			c.Granted, c.waits = at.Time, nil
		}
	}
}

// semaphore returns the semaphore that a queue belongs to, if it does.
func (h *History) semaphore(l *line) (lock string, found bool) {
	if l.rule == "kazoo" {
		lock, found = strings.CutSuffix(l.dir, kazooSuffix)
	} else {
		lock, found = strings.CutSuffix(l.dir, "/"+locksName)
	}
	if found {
		_, found = h.permits[lock]
	}
	return lock, found
}

// recipe returns the recipe of a queue that a contender has been in.
func (l *line) recipe(c *standing) Recipe {
	if l.readWrite {
		return ReadWrite
	}
	return recipeOf([]place{c.place})
}
