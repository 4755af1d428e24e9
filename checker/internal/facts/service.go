package facts

import (
	"path"
	"regexp"
	"slices"
	"sort"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
)

// Service holds the servers' log of a run, indexed by the locks, tokens and sessions of its
// history.
type Service struct {
	log      *service.Log
	byLock   map[string]*lockNodes
	standing map[string][]*service.Node // the nodes of locks that are one node
	rounds   map[string][]*service.Node // the nodes below a lock that outlive sessions: of a double barrier's rounds
	byToken  map[LeaseKey]*service.Node // with Sub 0; the first of a transaction that created several
	sessions map[string]*service.Session
}

// lockNodes holds the nodes of a lock, in the order of their creation.
type lockNodes struct {
	all  []*service.Node
	gone []time.Duration // when a node and all before it had been deleted; Forever if one was not
}

// NewService indexes the servers' log.
func NewService(l *service.Log) *Service {
	s := &Service{log: l, byLock: map[string]*lockNodes{}, byToken: make(map[LeaseKey]*service.Node, len(l.Nodes)), sessions: map[string]*service.Session{}, standing: map[string][]*service.Node{}, rounds: map[string][]*service.Node{}}
	for i := range l.Standing {
		if n := &l.Standing[i]; n.Name() == "" {
			s.standing[n.Lock()] = append(s.standing[n.Lock()], n)
		} else {
			s.rounds[n.Lock()] = append(s.rounds[n.Lock()], n)
		}
	}
	for i := range l.Sessions {
		s.sessions[l.Sessions[i].ID] = &l.Sessions[i]
	}
	for i := range l.Nodes {
		n := &l.Nodes[i]
		of := s.byLock[n.Lock()]
		if of == nil {
			of = new(lockNodes)
			s.byLock[n.Lock()] = of
		}
		gone := Forever
		if n.Deleted != nil {
			gone = n.Deleted.Time
		}
		if len(of.gone) > 0 {
			gone = max(gone, of.gone[len(of.gone)-1])
		}
		of.all, of.gone = append(of.all, n), append(of.gone, gone)
		key := LeaseKey{n.Lock(), histories.Token{Zxid: n.Created.Zxid}}
		if s.byToken[key] == nil {
			s.byToken[key] = n
		}
	}
	return s
}

// NodeOf returns the node by which a hold was granted, nil if that is not known. The token
// identifies the node. For a target without tokens it is found by the session, if the session
// created exactly one node of the lock during the acquire.
func (s *Service) NodeOf(h *Hold) *service.Node {
	if h.Token.Zxid != 0 {
		return s.NodeOfToken(h.Lock, h.Token)
	}
	of := s.byLock[h.Lock]
	if of == nil || h.Session == "" {
		return nil
	}
	var found *service.Node
	for _, n := range of.all[of.createdSince(h.Call-s.log.Clock):] {
		if n.Created.Time > After(h.Start, s.log.Clock) {
			break
		}
		if n.Session != h.Session {
			continue
		}
		if found != nil {
			return nil
		}
		found = n
	}
	return found
}

// NodeOfToken returns the node whose creation has a token, or nil.
func (s *Service) NodeOfToken(lock string, token histories.Token) *service.Node {
	return s.byToken[LeaseKey{lock, histories.Token{Zxid: token.Zxid}}]
}

// GoneBefore returns a node of a lease that had been deleted before a time, or nil. A lease of several
// permits has several nodes; they are known if their transaction created no others. A writer that
// becomes a reader may go on with its writer's token, so the node of that is not known.
func (s *Service) GoneBefore(h *Hold, at time.Duration) *service.Node {
	if h.Mode == histories.ModeRead && (h.Acquire.Beside != nil || h.Token.Sub > 0) {
		return nil
	}
	all := []*service.Node{s.NodeOf(h)}
	if h.Recipe().HasPermits() {
		if all = s.createdWith(all[0]); len(all) != h.Permits {
			return nil
		}
	}
	for _, n := range all {
		if n != nil && n.Deleted != nil && n.Deleted.Time < at {
			return n
		}
	}
	return nil
}

// createdWith returns all nodes of a node's lock that the same transaction created.
func (s *Service) createdWith(first *service.Node) (all []*service.Node) {
	if first == nil {
		return nil
	}
	of := s.byLock[first.Lock()]
	for _, n := range of.all[of.createdSince(first.Created.Time):] {
		if n.Created.Zxid > first.Created.Zxid {
			break
		}
		if n.Created.Zxid == first.Created.Zxid {
			all = append(all, n)
		}
	}
	return all
}

// GaveUp reports whether a request of a hold's own session, and not the end of that session or
// a request of another one, had certainly deleted its node by a time.
func (s *Service) GaveUp(h *Hold, by time.Duration) bool {
	n := s.NodeOf(h)
	return n != nil && !n.Ended && n.By == "" && s.goneBy(n, by)
}

// First returns the node of a lock that stands at a time and was created before all others, nil if
// none stands. Of a lock of which the log has no node at all nothing is known.
func (s *Service) First(lock string, at time.Duration) (_ *service.Node, known bool) {
	of := s.byLock[lock]
	if of == nil {
		return nil, false
	}
	for _, n := range of.all[sort.Search(len(of.all), func(i int) bool { return of.gone[i] > at }):] {
		if n.Created.Time > at {
			break
		}
		if n.Deleted == nil || n.Deleted.Time > at {
			return n, true
		}
	}
	return nil, true
}

// AheadOf returns the node of a hold, and the latest time at which a node that another session had
// created before it was deleted, the zero time if there was none.
func (s *Service) AheadOf(h *Hold) (own *service.Node, until time.Duration) {
	if own = s.NodeOf(h); own == nil {
		return nil, 0
	}
	of := s.byLock[own.Lock()]
	for i := of.createdSince(own.Created.Time+1) - 1; i >= 0 && of.gone[i] > own.Created.Time; i-- {
		if n := of.all[i]; n.Session != own.Session && n.Created.Zxid < own.Created.Zxid && n.Deleted != nil {
			until = max(until, n.Deleted.Time)
		}
	}
	return own, until
}

// createdSince returns the index of the first node that was created at a time or later.
func (l *lockNodes) createdSince(at time.Duration) int {
	return sort.Search(len(l.all), func(i int) bool { return l.all[i].Created.Time >= at })
}

// Turn is the relation of a grant of a lock to the order of the nodes on the servers.
type Turn int

// The turns.
const (
	UnknownTurn Turn = iota
	TooEarly         // it was granted to a node while an earlier one existed
	InTurn           // the earlier node had been deleted by the time that its acquire returned
)

// Between returns how the later of two holds of a lock, by the order of their nodes, was
// granted: TooEarly if the node of the earlier one still existed, or InTurn. It returns
// UnknownTurn if their nodes are not known, if they share one node, and if the deletion is so
// close to the grant that the clocks do not tell which came first. The holds overlap: a client
// that hands a lock on by itself does so when the first of them is over.
func (s *Service) Between(a, b *Hold) (turn Turn, earlier, later *Hold) {
	x, y := s.NodeOf(a), s.NodeOf(b)
	if x == nil || y == nil || x == y {
		return UnknownTurn, nil, nil
	}
	if y.Created.Zxid < x.Created.Zxid {
		a, b, x, y = b, a, y, x
	}
	switch {
	case s.thereAt(x, b.Start):
		return TooEarly, a, b
	case s.goneBy(x, b.Start):
		return InTurn, a, b
	}
	return UnknownTurn, nil, nil
}

// thereAt reports whether a node certainly existed at a time after its creation: the leader had
// not been asked to delete it.
func (s *Service) thereAt(n *service.Node, at time.Duration) bool {
	return n.Deleted == nil || n.Deleted.Time-s.log.Clock > at
}

// goneBy reports whether the leader had certainly been asked to delete a node before a time.
func (s *Service) goneBy(n *service.Node, at time.Duration) bool {
	return n.Deleted != nil && n.Deleted.Time+s.log.Clock <= at
}

// sequential matches the end of a contender's name, the number that ZooKeeper adds.
var sequential = regexp.MustCompile(`[0-9]{10}$`)

// Before returns the first contender of another session whose node came before that of a hold
// and certainly still existed when the hold's acquire returned, or nil. It returns false if the
// node of the hold is not known, or is not a contender's.
func (s *Service) Before(h *Hold) (n *service.Node, known bool) {
	own := s.NodeOf(h)
	if own == nil || !sequential.MatchString(own.Path) {
		return nil, false
	}
	of := s.byLock[h.Lock]
	first := sort.Search(len(of.all), func(i int) bool { return of.all[i].Created.Zxid >= own.Created.Zxid })
	for i := first - 1; i >= 0 && of.gone[i]-s.log.Clock > h.Start; i-- {
		m := of.all[i]
		if m.Session != own.Session && s.thereAt(m, h.Start) && sequential.MatchString(m.Path) && sameDirectory(m, own) {
			n = m
		}
	}
	return n, true
}

// sameDirectory reports whether two nodes of a lock are siblings.
func sameDirectory(a, b *service.Node) bool { return path.Dir(a.Path) == path.Dir(b.Path) }

// ClockFails reports whether, by the servers' clocks, the node of a hold was created after its
// acquire had returned: then the wall clock was set during the run.
func (s *Service) ClockFails(h *Hold) bool {
	n := s.NodeOf(h)
	return n != nil && n.Created.Time-s.log.Clock > h.Start
}

// SessionEnd returns the record of the end of a session in the servers' log, nil if it has
// none.
func (s *Service) SessionEnd(id string) *service.Session {
	if end := s.sessions[id]; end != nil && end.Closed != nil {
		return end
	}
	return nil
}

// Expired returns the time by which the servers had certainly expired a session, and whether
// they did.
func (s *Service) Expired(id string) (by time.Duration, expired bool) {
	if end := s.SessionEnd(id); end != nil && end.Expired {
		return end.Closed.Time + s.log.Clock, true
	}
	return 0, false
}

// Exact reports whether the times of the log are those of the run, and each is that at which the
// first server carried the transaction out: in virtual time.
func (s *Service) Exact() bool { return s.log.Clock == 0 }

// Nodes returns all nodes, in the order of their creation.
func (s *Service) Nodes() []service.Node { return s.log.Nodes }

// Parents returns the containers of locks, in the order of their creation.
func (s *Service) Parents() []service.Node { return s.log.Parents }

// NodesOf returns the nodes of a lock, in the order of their creation.
func (s *Service) NodesOf(lock string) []*service.Node {
	if of := s.byLock[lock]; of != nil {
		return of.all
	}
	return nil
}

// StandingOf returns the nodes that a lock has been one after the other, if the lock is one node
// that outlives sessions, such as a barrier.
func (s *Service) StandingOf(lock string) []*service.Node { return s.standing[lock] }

// RoundsOf returns the nodes that the rounds of a double barrier have begun with, in their order.
func (s *Service) RoundsOf(lock string) []*service.Node { return s.rounds[lock] }

// SizeOf returns the node with the size of a shared semaphore, nil if there is none or there have
// been several.
func (s *Service) SizeOf(lock string) *service.Node {
	if all := s.standing[lock+service.SizeSuffix]; len(all) == 1 {
		return all[0]
	}
	return nil
}

// CalmFor reports whether in a stretch of time, and in the two session timeouts before, no fault hit
// a process or a server, and the run went on.
func (t *Trace) CalmFor(process int, from, to time.Duration) bool {
	from -= t.Calm()
	for range t.Faults.ReachingOrOnServers(process, from, to) {
		return false
	}
	return t.WentOn(from, to)
}

// CalmIn reports whether a stretch of time of this length lies between two times for which CalmFor is true
// for all of the processes.
func (t *Trace) CalmIn(from, to, length time.Duration, processes ...int) bool {
	for to-from >= length {
		// The last thing between from and its end that disturbs the processes.
		disturbed, last := false, from-t.Calm()
		later := func(s Span) {
			if s.From <= from+length && s.To >= from-t.Calm() {
				disturbed, last = true, max(last, s.To)
			}
		}
		for _, p := range processes {
			for f := range t.Faults.ReachingOrOnServers(p, from-t.Calm(), from+length) {
				later(Span{From: f.Start, To: f.Stop})
			}
		}
		for _, spans := range [][]Span{t.Quiet.Spans, t.Faults.Stalls} {
			for _, s := range spans {
				later(s)
			}
		}
		switch {
		case !disturbed:
			return len(processes) > 0
		case last >= to:
			return false
		}
		from = last + t.Calm() + 1
	}
	return false
}

// WentOn reports whether the run went on in all of a stretch of time.
func (t *Trace) WentOn(from, to time.Duration) bool {
	in := func(s Span) bool { return s.From <= to && s.To >= from }
	return !slices.ContainsFunc(t.Quiet.Spans, in) && !slices.ContainsFunc(t.Faults.Stalls, in)
}

// Reconnected returns the time, not before at, at which a client that was connected at that time has
// certainly been connected again, for a while, if faults hit it or a server from shortly before until so long
// after: half a session timeout after the last of them.
func (t *Trace) Reconnected(process int, at, after time.Duration) time.Duration {
	within := t.Header.SessionTimeout / 2
	for again := true; again; {
		again = false
		for f := range t.Faults.ReachingOrOnServers(process, at-within, at+after) {
			if f.Stop+within > at {
				at, again = f.Stop+within+1, true
			}
		}
	}
	return at
}
