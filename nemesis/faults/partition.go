package faults

import (
	"context"
	"maps"
	"slices"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// partitionKind splits the network in two: a minority of the servers (one of three,
// or two of five) with the clients that are linked to it, and the rest. Unlike the
// clients of an isolated server, these clients cannot move to the majority.
func partitionKind() fault.Kind {
	return fault.Kind{
		Name: "partition", Description: "a minority of the servers, and its clients, are cut off from the majority", Needs: fault.NeedsPeers, Weight: 1, Server: true,
		Span: fault.Timeouts(1, 2),
		Make: func(s fault.Scene) (fault.Fault, error) {
			first, err := s.Server()
			if err != nil {
				return fault.Fault{}, err
			}
			servers := s.Ensemble().Servers()
			minority := minorityWith(s, first)
			f := fault.Fault{Name: "partition", Servers: minority}
			within := make(map[int]bool)
			for _, id := range minority {
				within[id] = true
				f.Targets = append(f.Targets, fault.ServerName(id))
			}
			s.SetRole(&f, first)
			var ls []links.Link
			for _, in := range minority {
				for _, out := range servers {
					if within[out.ID] {
						continue
					}
					between, err := peerLinks(s.Ensemble(), in, out.ID)
					if err != nil {
						return fault.Fault{}, err
					}
					ls = append(ls, between...)
				}
			}
			for _, c := range s.Free {
				if !within[c.Linked] {
					continue
				}
				f.Reserves = append(f.Reserves, c.Index)
				f.Targets = append(f.Targets, fault.ClientName(c.Index))
				for _, id := range slices.Sorted(maps.Keys(c.Links)) {
					if l := c.Links[id]; !within[id] && !slices.Contains(ls, l) { // others may share it
						ls = append(ls, l)
					}
				}
			}
			return f.OnLinks(ls, func(ctx context.Context, l links.Link) error { return l.Cut(ctx, links.BlackHole) }), nil
		},
	}
}

// minorityWith returns a server together with as many others as possible, so that their votes,
// at least one, are a minority of all votes.
func minorityWith(s fault.Scene, first int) []int {
	voters := s.Voters()
	most := max(1, (len(voters)-1)/2)
	if !slices.Contains(voters, first) {
		most++ // an observer has no vote
	}
	return append([]int{first}, s.Voters(first)...)[:most]
}
