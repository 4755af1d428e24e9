package faults

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/nemesis/fault"
)

// followerKind cuts the follower that a lock's holder is linked to off from
// its peers. The holder keeps its server, and that server goes on answering
// pings and reads until syncLimit ticks have passed, while the leader counts
// the session down: a client that takes either answer for a heartbeat still
// believes that it holds its lock after the lock was granted to another client.
// This is the cut that stock clients do not survive.
//
// A barrier has no holder. There it cuts off the follower of a client that waits:
// that server goes on reporting the old state of the barrier.
//
// A leader that loses its peers is another matter (isolate-leader), so a
// holder linked to the leader does not qualify.
func followerKind() fault.Kind {
	return fault.Kind{
		Name:        "isolate-holder-follower",
		Description: "the follower that a lock's holder is linked to is cut off from the other servers",
		Needs:       fault.NeedsPeers, Weight: 1, Early: 1,
		// Longer than the session timeout, so that the leader ends the
		// session without the follower's knowledge.
		Span: fault.Timeouts(1.5, 2.2),
		Make: MakeFollower,
	}
}

// MakeFollower makes a fault of followerKind.
func MakeFollower(s fault.Scene) (fault.Fault, error) {
	f, _, err := holderFollower(s, "isolate-holder-follower", fault.AtHolder.At)
	return f, err
}

var errNoHolder = fmt.Errorf("%w: no client holds a lock through a follower", fault.ErrNobody)

// holderFollower returns a fault that cuts off the follower to which a holder is linked, and
// hits all clients that are linked to it.
func holderFollower(s fault.Scene, name string, holds func(fault.Client) bool) (f fault.Fault, holder fault.Client, err error) {
	if err := s.ServersFree(); err != nil {
		return f, holder, err
	}
	holders := throughFollowers(s, holds)
	if len(holders) == 0 && (!s.Exact || s.Pick.Aim == fault.AtWaiter) {
		holders = throughFollowers(s, fault.AtWaiter.At) // a barrier has no holder
	}
	if len(holders) == 0 {
		return f, holder, errNoHolder
	}
	if w, ok := s.World.(fault.Chooser); ok {
		holders = w.Rarest(s.Kind, fault.AtHolder, holders, false)
	}
	holder = holders[s.Rand.IntN(len(holders))]
	f.Name = name
	// Every client linked to this server is hit. A second fault on one of them
	// would only make it leave the server where it should stay.
	hit := slices.DeleteFunc(slices.Clone(s.Everyone), func(c fault.Client) bool { return c.Linked != holder.Linked })
	for _, c := range hit {
		f.Clients = append(f.Clients, c.Index)
		f.Targets = append(f.Targets, fault.ClientName(c.Index))
	}
	f, err = isolate(s, f, holder.Linked)
	return f, holder, err
}

// throughFollowers returns the free clients that are linked to a follower and for which
// is returns true.
func throughFollowers(s fault.Scene, is func(fault.Client) bool) []fault.Client {
	return slices.DeleteFunc(slices.Clone(s.Free), func(c fault.Client) bool { return !is(c) || c.Linked == s.Leader })
}
