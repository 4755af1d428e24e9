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
	f, _, err := s.holderFollower("isolate-holder-follower", func(c Client) bool { return c.Holds })
	return f, err
}

var errNoHolder = fmt.Errorf("%w: no client holds a lock through a follower", ErrNobody)

// holderFollower is a fault that cuts off the follower that a holder is linked to, and
// hits all who are linked to it.
func (s Scene) holderFollower(name string, holds func(Client) bool) (f Fault, holder Client, err error) {
	if err := s.serversFree(); err != nil {
		return f, holder, err
	}
	holders := s.throughFollowers(holds)
	if len(holders) == 0 && (!s.exact || s.aim == AtWaiter) {
		holders = s.throughFollowers(func(c Client) bool { return c.Waits }) // a barrier is held by nobody
	}
	if len(holders) == 0 {
		return f, holder, errNoHolder
	}
	if w, ok := s.World.(Chooser); ok {
		holders = w.Rarest(s.fault, AtHolder, holders, false)
	}
	holder = holders[s.Rand.IntN(len(holders))]
	f.Name = name
	// Everyone linked to this server is hit. A second fault on one of them
	// would only chase it away from the server where it should stay.
	hit := slices.DeleteFunc(slices.Clone(s.Everyone), func(c Client) bool { return c.Linked != holder.Linked })
	for _, c := range hit {
		f.Clients = append(f.Clients, c.Index)
		f.Targets = append(f.Targets, clientName(c.Index))
	}
	f, err = isolate(s, f, holder.Linked)
	return f, holder, err
}

// throughFollowers returns the free clients that are linked to a follower and are
// what is asked for.
func (s Scene) throughFollowers(is func(Client) bool) []Client {
	return slices.DeleteFunc(slices.Clone(s.Free), func(c Client) bool { return !is(c) || c.Linked == s.Leader })
}
