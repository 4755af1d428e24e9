// Package service models the client side of a ZooKeeper server: it begins sessions, takes
// requests in order, answers reads from its own tree, and has the leader, which may be
// any server ([Quorum]), put writes in order.
//
// Source: NIOServerCnxn, ZooKeeperServer, CommitProcessor and FinalRequestProcessor of
// ZooKeeper 3.8 and 3.9.
package service

import (
	"maps"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// Settings are the settings of a server that its clients see.
type Settings struct {
	ID                                   int
	Version                              string // as it is reported
	TickTime                             time.Duration
	InitLimit, SyncLimit                 int
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// Reconnected, unless it is 0, is the longest session timeout that a client gets that connects again,
	// as from a server with a lower maxSessionTimeout. The session lives for that time from its next
	// request on: its client may never get the answer to its connect request.
	Reconnected time.Duration
	// Refuse, if not nil, decides whether a request of a client at an IP address is refused, and
	// how: with the error code, with that error for its first part if it is a multi, or, with
	// HangUp, by the end of the connection. OK means that the request is carried out.
	Refuse     func(ip string, op wire.Op) (code wire.Code, part bool)
	SASLUsers  map[string]string // their passwords; nil: there is no SASL
	DemandSASL bool
	// Applied, if not nil, is called with each committed transaction that the server has applied,
	// and with true. It must not call back.
	Applied func(x *tree.Txn, committed bool)
}

// HangUp is not a code of ZooKeeper. See Settings.Refuse.
const HangUp wire.Code = 1

// Quorum is the ensemble of servers, seen from one of them.
type Quorum interface {
	// Mode is "leader", "follower" or "looking".
	Mode() string
	// Serves reports whether clients are served.
	Serves() bool
	// Touch notes that a session is active. It returns false if the session is known to have
	// ended.
	Touch(session int64, timeout int32) bool
	// Check returns the error for a read of a session that may not read.
	Check(session int64) wire.Code
	// NewSession returns the id of a session that begins.
	NewSession() int64
	// Revalidate finds out whether the session of a connection is alive, and then calls Admit.
	Revalidate(c *Connection)
	// Ask has a request put in order. Commit, or AnswerSync, answers it.
	Ask(r *tree.Request)
	// OrdersSyncs reports whether a sync has to be put in order too.
	OrdersSyncs() bool
}

// Service is the client side of a server. It belongs to one goroutine at a time.
type Service struct {
	settings Settings
	quorum   Quorum
	now      time.Duration
	out      []Action
	tree     *tree.Tree
	watches  *watches
	clients  clients
	queues   queues
}

// New returns a service that serves no client before Begin.
func New(settings Settings) *Service {
	s := &Service{settings: settings}
	s.clients = clients{service: s, conns: map[ConnID]*Connection{}, soonest: never}
	return s
}

// Begin closes all connections, and serves a tree from now on as part of a quorum.
func (s *Service) Begin(t *tree.Tree, q Quorum) {
	s.clients.closeAll()
	s.tree, s.quorum = t, q
	s.queues = queues{service: s, sessions: map[int64][]queued{}}
	s.watches = newWatches(t.Release())
}

// SetQuorum replaces the quorum that has the tree; connections stay.
func (s *Service) SetQuorum(q Quorum) { s.quorum = q }

// SetTree replaces the tree, before clients are served.
func (s *Service) SetTree(t *tree.Tree) { s.tree = t }

// Step handles an input of a client at an instant. If in is nil it carries out what is
// due then.
func (s *Service) Step(now time.Duration, in Input) {
	s.now = now
	switch in := in.(type) {
	case Accepted:
		s.clients.accept(in)
	case Received:
		s.clients.receive(in)
	case Closed:
		s.clients.gone(in.Conn)
	default:
		s.clients.wake()
	}
}

// Due returns the instant at which Step must be called.
func (s *Service) Due() time.Duration { return s.clients.due() }

// Take returns the actions for clients since the last call, in order.
func (s *Service) Take() []Action {
	out := s.out
	s.out = nil
	return out
}

func (s *Service) do(a Action) { s.out = append(s.out, a) }

// sorted returns a map's keys in order: nothing that the server does depends on the
// order of a map.
func sorted[K ~int | ~int64, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// never is an instant that does not come.
const never = time.Duration(1<<63 - 1)
