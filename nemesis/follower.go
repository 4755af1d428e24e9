package nemesis

import (
	"fmt"
	"slices"
)

// followerKind cuts the follower that a lock's holder is linked to off from
// its peers. The holder keeps its server, and that server goes on answering
// pings and reads until syncLimit ticks have passed, while the leader counts
// the session down: a client that takes either for a heartbeat believes on
// after its lock was given to another. This is the cut that stock clients do
// not survive.
//
// Where nobody holds anything, at a barrier, it is the follower of a client that
// waits: it goes on saying that the barrier is as it was.
//
// A leader that loses its peers is another matter (isolate-leader), so a
// holder linked to the leader does not qualify.
func followerKind() Kind {
	return Kind{
		Name:        "isolate-holder-follower",
		Description: "the follower that a lock's holder is linked to is cut off from the other servers",
		Needs:       NeedsPeers, Weight: 1, early: 1,
		// Longer than the session timeout, so that the leader ends the
		// session behind the follower's back.
		Span: timeouts(1.5, 2.2),
		Make: makeFollower,
	}
}

func makeFollower(s Scene) (Fault, error) {
	if err := s.serversFree(); err != nil {
		return Fault{}, err
	}
	holders := s.throughFollowers(func(c Client) bool { return c.Holds })
	if len(holders) == 0 && (!s.exact || s.aim == AtWaiter) {
		holders = s.throughFollowers(func(c Client) bool { return c.Waits }) // a barrier is held by nobody
	}
	if len(holders) == 0 {
		return Fault{}, fmt.Errorf("%w: no client holds a lock through a follower", ErrNobody)
	}
	if w, ok := s.World.(Chooser); ok {
		holders = w.Rarest(s.fault, AtHolder, holders, false)
	}
	server := holders[s.Rand.IntN(len(holders))].Linked
	f := Fault{Name: "isolate-holder-follower"}
	// Everyone linked to this server is hit. A second fault on one of them
	// would only chase it away from the server where it should stay.
	for _, c := range s.Everyone {
		if c.Linked == server {
			f.Clients = append(f.Clients, c.Index)
			f.Targets = append(f.Targets, clientName(c))
		}
	}
	return isolate(s, f, server)
}

// throughFollowers returns the free clients that are linked to a follower and are
// what is asked for.
func (s Scene) throughFollowers(is func(Client) bool) []Client {
	return slices.DeleteFunc(slices.Clone(s.Free), func(c Client) bool { return !is(c) || c.Linked == s.Leader })
}
