package nemesis

import (
	"context"
	"slices"

	"github.com/zkverify/zkverify/ensemble/links"
)

// partitionKind splits the network in two: a minority of the servers, one of
// three, with the clients that are linked to it, and the rest. Unlike those of a
// server that is merely isolated, these clients cannot move to the majority.
func partitionKind() Kind {
	return Kind{
		Name: "partition", Description: "a minority of the servers, and its clients, are cut off from the majority", Needs: NeedsPeers, Weight: 1, server: true,
		Span: timeouts(1, 2),
		Make: func(s Scene) (Fault, error) {
			first, err := s.Server()
			if err != nil {
				return Fault{}, err
			}
			servers := s.Ensemble().Servers()
			minority := append([]int{first}, s.others(first)...)[:max(1, (len(servers)-1)/2)]
			f := Fault{Name: "partition", Servers: minority}
			within := make(map[int]bool)
			for _, id := range minority {
				within[id] = true
				f.Targets = append(f.Targets, serverName(id))
			}
			s.setRole(&f, first)
			var ls []links.Link
			for _, in := range minority {
				for _, out := range servers {
					if within[out.ID] {
						continue
					}
					between, err := peerLinks(s.Ensemble(), in, out.ID)
					if err != nil {
						return Fault{}, err
					}
					ls = append(ls, between...)
				}
			}
			for _, c := range s.Free {
				if !within[c.Linked] {
					continue
				}
				f.Reserves = append(f.Reserves, c.Index)
				f.Targets = append(f.Targets, clientName(c.Index))
				for _, id := range sortedKeys(c.Links) {
					if l := c.Links[id]; !within[id] && !slices.Contains(ls, l) { // others may share it
						ls = append(ls, l)
					}
				}
			}
			return f.onLinks(ls, func(ctx context.Context, l links.Link) error { return l.Cut(ctx, links.BlackHole) }), nil
		},
	}
}
