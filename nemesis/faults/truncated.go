package faults

import (
	"context"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// truncatedKind closes a client's connections in the middle of a reply: the request was
// carried out, and the client gets no answer. The reply to the handshake is 40 or 41
// bytes long: in one case of four not even that reply is whole, in the others the
// session goes on for a few replies each time.
func truncatedKind() fault.Kind {
	return fault.Kind{
		Name: "truncated-reply", Description: "a client's connections are closed in the middle of a reply", Weight: 1, Links: true,
		Span:   fault.Timeouts(0.2, 1.4),
		Params: []fault.Param{fault.Number("bytes", 1)},
		Make: func(s fault.Scene) (fault.Fault, error) {
			return onClient(s, "truncated-reply", func(f *fault.Fault) func(context.Context, links.Link) error {
				bytes := 45 + s.Rand.IntN(400)
				if s.Rand.IntN(4) == 0 {
					bytes = 1 + s.Rand.IntN(39)
				}
				bytes = s.SetNumber(f, "bytes", bytes)
				return func(ctx context.Context, l links.Link) error { return l.Truncate(ctx, bytes) }
			})
		},
	}
}
