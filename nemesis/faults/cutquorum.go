package faults

import (
	"context"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// cutQuorumKind closes all links between the servers. Each server runs, notices the
// loss at once, and serves no client: it accepts connections and closes them, so a
// client that does not wait between its attempts connects thousands of times a second.
func cutQuorumKind() fault.Kind {
	return fault.Kind{
		Name: "cut-quorum", Description: "all servers are cut off from each other: they run, but serve no client", Needs: fault.NeedsPeers, Weight: 1,
		Span: fault.Timeouts(1, 2),
		Make: func(s fault.Scene) (fault.Fault, error) {
			if err := s.ServersFree(); err != nil {
				return fault.Fault{}, err
			}
			f := fault.Fault{Name: "cut-quorum"}
			ls, err := allPeerLinks(s, &f)
			if err != nil {
				return fault.Fault{}, err
			}
			return f.OnLinks(ls, func(ctx context.Context, l links.Link) error { return l.Cut(ctx, links.Down) }), nil
		},
	}
}
