package model

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/service"
	"github.com/zkverify/zkverify/ensemble/model/tree"
)

// Server is one ZooKeeper server. It belongs to one goroutine at a time.
type Server struct {
	config   Config
	disk     *tree.Disk
	now      time.Duration
	stepped  time.Duration // of the wall clock, see StepClock
	out      []Action
	election *election
	role     role
	tree     *tree.Tree
	service  *service.Service
}

// role is the state of a server: looking for a leader, leading or following.
type role interface {
	service.Quorum
	// sessionChanged is called when a session has begun or ended.
	sessionChanged(x *tree.Txn)
	dialed(peer PeerID)
	said(peer PeerID, m Message)
	closed(peer PeerID)
	// accepted handles another server's connection. It returns false to refuse the connection.
	accepted(peer PeerID) bool
	synced(zxid int64)
	wake()
	due() time.Duration
	// leave ends the role.
	leave()
}

// never is an instant that does not come.
const never = time.Duration(1<<63 - 1)

// New starts a server on the data of its disk; nothing happens before the first Step. It
// returns an error for an impossible Config.
func New(config Config, disk *tree.Disk) (*Server, error) {
	if err := config.settle(); err != nil {
		return nil, err
	}
	s := &Server{config: config, disk: disk}
	s.election = newElection(config.ID, config.Servers, longestRound)
	s.service = service.New(service.Settings{
		ID: config.ID, Version: config.Version, TickTime: config.TickTime, InitLimit: config.InitLimit, SyncLimit: config.SyncLimit,
		MinSessionTimeout: config.MinSessionTimeout, MaxSessionTimeout: config.MaxSessionTimeout, Reconnected: config.Reconnected, Refuse: config.Refuse,
		SASLUsers: config.SASLUsers, DemandSASL: config.DemandSASL, Applied: config.Applied,
	})
	return s, nil
}

// longestRound bounds the interval at which an election's votes are sent again.
const longestRound = 800 * time.Millisecond

// Step handles an input at an instant, no earlier than the last, and returns the server's
// actions. They are valid until the next step.
func (s *Server) Step(now time.Duration, in Input) []Action {
	s.now = max(now, s.now)
	s.out = s.out[:0]
	if s.role == nil {
		s.tree = s.disk.Load(s.config.release())
		s.look()
	}
	switch in := in.(type) {
	case Wake:
		s.wake()
	case FromClient:
		s.service.Step(s.now, in.Input)
	case Voted:
		s.vote(s.election.Receive(s.now, in.Notification))
	case PeerAccepted:
		if !s.role.accepted(in.Peer) {
			s.do(Hang(in))
		}
	case PeerDialed:
		s.role.dialed(in.Peer)
	case DialFailed:
		s.role.closed(0)
	case PeerSaid:
		s.role.said(in.Peer, in.Message)
	case PeerClosed:
		s.role.closed(in.Peer)
	case Synced:
		s.disk.Sync(in.Zxid)
		s.role.synced(in.Zxid)
	case Expire:
		s.expire(in.Session)
	default:
		panic(fmt.Sprintf("an input of type %T", in))
	}
	s.flush()
	return s.out
}

// do adds an action, behind the earlier actions for clients.
func (s *Server) do(a Action) {
	s.flush()
	s.out = append(s.out, a)
}

// flush takes over the service's actions for clients.
func (s *Server) flush() {
	for _, a := range s.service.Take() {
		s.out = append(s.out, ToClient{a})
	}
}

// Due returns the instant at which the server must be woken.
func (s *Server) Due() time.Duration {
	if s.role == nil {
		return s.now
	}
	at := min(s.role.due(), s.service.Due())
	if e, ok := s.election.Due(); ok {
		at = min(at, e)
	}
	return at
}

func (s *Server) wake() {
	s.vote(s.election.Wake(s.now))
	s.role.wake()
	s.service.Step(s.now, nil)
}

// Mode returns "leader", "follower" or "looking" for a server that serves; else "".
func (s *Server) Mode() string {
	if s.role == nil || !s.role.Serves() {
		return ""
	}
	return s.role.Mode()
}

// LastZxid returns the last transaction that the server has applied.
func (s *Server) LastZxid() int64 {
	if s.tree == nil {
		return 0
	}
	return s.tree.LastZxid()
}

// look begins an election.
func (s *Server) look() {
	if s.role != nil {
		s.role.leave()
	}
	// Logged transactions are applied, whether they were committed or not: the election is about
	// the log.
	s.disk.Sync(s.disk.LastZxid())
	if last := s.disk.LastZxid(); s.tree.LastZxid() < last {
		rest, _ := s.disk.Since(s.tree.LastZxid())
		for i := range rest {
			s.tree.Apply(&rest[i])
			if s.config.Applied != nil {
				s.config.Applied(&rest[i], false)
			}
		}
	}
	s.do(Print{"LOOKING"})
	s.role = looking{s}
	s.service.Begin(s.tree, s.role)
	s.vote(s.election.Look(s.now, s.tree.LastZxid(), s.disk.CurrentEpoch))
}

// vote sends the election's notifications, and enters the role with which the election
// ends.
func (s *Server) vote(sends []Send) {
	for _, v := range sends {
		s.do(Vote{v})
	}
	if _, is := s.role.(looking); !is {
		return
	}
	switch state, vote := s.election.State(); state {
	case Leading:
		s.do(Print{fmt.Sprintf("LEADING, elected with zxid %#x", s.tree.LastZxid())})
		s.role = lead(s)
	case Following:
		s.do(Print{fmt.Sprintf("FOLLOWING server %d", vote.Leader)})
		s.role = follow(s, vote.Leader)
	default:
		return
	}
	s.service.SetQuorum(s.role)
}

// wall returns the time of the wall clock, in ms since 1970.
func (s *Server) wall() int64 {
	return s.config.Start.UnixMilli() + (s.now + s.stepped).Milliseconds()
}

// firstSession returns the first session id that this server gives in a role
// (SessionTrackerImpl.initializeNextSessionId).
func (s *Server) firstSession() int64 {
	elapsed := s.config.Start.UnixMilli() + s.now.Milliseconds() // of a clock that does not step
	return int64(uint64(elapsed)<<24>>8) | int64(s.config.ID)<<56
}

// log appends a transaction and requests its sync.
func (s *Server) log(x *tree.Txn) {
	s.disk.Append(*x)
	s.do(Sync{x.Zxid})
}

// epochOf returns the epoch in a zxid.
func epochOf(zxid int64) int64 { return zxid >> 32 }

// zxidOf returns an epoch's first zxid, which no transaction has.
func zxidOf(epoch int64) int64 { return epoch << 32 }

// sorted returns a map's keys in order: nothing that the server does depends on the
// order of a map. Servers ask for the keys of a few learners at each tick: an iterator, and a
// slice that grows, would cost several times as much.
func sorted[K ~int | ~int64, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// commit applies a transaction that a quorum has logged.
func (s *Server) commit(x *tree.Txn) {
	s.service.Commit(x)
	switch x.Change.(type) {
	case tree.CreateSession, tree.CloseSession:
		s.role.sessionChanged(x)
	}
	s.disk.Compact(s.tree)
}
