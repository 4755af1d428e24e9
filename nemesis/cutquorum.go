package nemesis

import (
	"context"

	"github.com/zkverify/zkverify/ensemble/links"
)

// cutQuorumKind closes all links between the servers. Each of them runs, finds
// out at once, and serves nobody: it accepts connections and closes them, so that
// a client that does not wait between its attempts comes thousands of times a
// second.
func cutQuorumKind() Kind {
	return Kind{
		Name: "cut-quorum", Description: "all servers are cut off from each other: they run, and serve nobody", Needs: NeedsPeers, Weight: 1,
		Span: timeouts(1, 2),
		Make: func(s Scene) (Fault, error) {
			if err := s.serversFree(); err != nil {
				return Fault{}, err
			}
			f := Fault{Name: "cut-quorum"}
			ls, err := s.allPeerLinks(&f)
			if err != nil {
				return Fault{}, err
			}
			return f.onLinks(ls, func(ctx context.Context, l links.Link) error { return l.Cut(ctx, links.Down) }), nil
		},
	}
}
