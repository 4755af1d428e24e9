package faults

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// slicerKind delivers a client's data, both ways, in pieces of about 2 to 16 bytes
// with pauses of up to 2 ms: no message arrives in one piece, and each takes many
// reads.
func slicerKind() fault.Kind {
	return fault.Kind{
		Name: "slicer", Description: "a client's data arrives in small pieces, with pauses", Weight: 1, Links: true,
		Span:   fault.Timeouts(0.5, 1.5),
		Params: []fault.Param{fault.Number("size", 2), fault.Duration("pause", 0)},
		Make: func(s fault.Scene) (fault.Fault, error) {
			return onClient(s, "slicer", func(f *fault.Fault) func(context.Context, links.Link) error {
				size := s.SetNumber(f, "size", 2+s.Rand.IntN(15))
				pause := s.SetDuration(f, "pause", time.Duration(s.Rand.IntN(21))*100*time.Microsecond)
				return func(ctx context.Context, l links.Link) error { return l.Slice(ctx, size, pause) }
			})
		},
	}
}
