package nemesis

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
)

// slicerKind delivers what a client sends and gets in pieces of about 2 to 16 bytes
// with pauses of up to 2 ms: no message arrives in one piece, and what takes one
// read elsewhere takes many.
func slicerKind() Kind {
	return Kind{
		Name: "slicer", Description: "a client's data arrives in small pieces, with pauses", Weight: 1, links: true,
		Span:   timeouts(0.5, 1.5),
		params: []param{number("size", 2), duration("pause", 0)},
		Make: func(s Scene) (Fault, error) {
			return onClient(s, "slicer", func(f *Fault) func(context.Context, links.Link) error {
				size := s.setNumber(f, "size", 2+s.Rand.IntN(15))
				pause := s.setDuration(f, "pause", time.Duration(s.Rand.IntN(21))*100*time.Microsecond)
				return func(ctx context.Context, l links.Link) error { return l.Slice(ctx, size, pause) }
			})
		},
	}
}
