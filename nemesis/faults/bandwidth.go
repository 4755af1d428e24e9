package faults

import (
	"context"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// bandwidthKind narrows one client's links to 1 to 8 kB a second, each way. The
// list of a crowded lock's children then takes longer than a heartbeat interval,
// and the heartbeat waits behind it.
func bandwidthKind() fault.Kind {
	return fault.Kind{
		Name: "bandwidth", Description: "a client's links carry few bytes a second", Weight: 1, Links: true,
		Span:   fault.Timeouts(0.5, 1.5),
		Params: []fault.Param{fault.Number("bytes-per-second", 1)},
		Make: func(s fault.Scene) (fault.Fault, error) {
			return onClient(s, "bandwidth", func(f *fault.Fault) func(context.Context, links.Link) error {
				rate := s.SetNumber(f, "bytes-per-second", 1000*(1+s.Rand.IntN(8)))
				return func(ctx context.Context, l links.Link) error { return l.Throttle(ctx, rate) }
			})
		},
	}
}
