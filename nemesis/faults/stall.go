package faults

import (
	"context"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// stallKind holds back a client's requests, its servers' replies, or both, and then delivers
// them all at once, in order, as a network does that loses packets for a while and sends them
// again. The messages that arrive are old, and look new.
func stallKind() fault.Kind {
	return fault.Kind{
		Name: "stall", Description: "a client's requests, its servers' replies, or both are held back, and then arrive at once", Weight: 1, Links: true,
		Span:   fault.Timeouts(0.2, 1.4),
		Params: []fault.Param{fault.Choice("held", heldRequests, heldReplies, heldBoth)},
		Make: func(s fault.Scene) (fault.Fault, error) {
			return onClient(s, "stall", func(f *fault.Fault) func(context.Context, links.Link) error {
				held := s.Set(f, "held", []string{heldRequests, heldReplies, heldBoth}[s.Rand.IntN(3)])
				return func(ctx context.Context, l links.Link) error {
					return l.Stall(ctx, held != heldReplies, held != heldRequests)
				}
			})
		},
	}
}

// The values of held.
const heldRequests, heldReplies, heldBoth = "requests", "replies", "both"

// stallPeersKind holds back the messages of one server to the others: they see a server that
// stands still, while it goes on running and hears them.
func stallPeersKind() fault.Kind {
	return fault.Kind{
		Name: "stall-peers", Description: "what one server says to the others is held back, and then arrives at once", Needs: fault.NeedsPeers, Weight: 1, Server: true,
		Span: fault.Timeouts(0.2, 1.4),
		Make: func(s fault.Scene) (fault.Fault, error) {
			id, err := s.Server()
			if err != nil {
				return fault.Fault{}, err
			}
			f := fault.Fault{Name: "stall-peers", Servers: []int{id}, Targets: []string{fault.ServerName(id)}}
			s.SetRole(&f, id)
			said, err := voiceOf(s.Ensemble(), id, s.Others(id)...)
			if err != nil {
				return f, err
			}
			f = f.OnLinks(said.links(), nil)
			f.Start = said.hold
			return f, nil
		},
	}
}
