package nemesis

import (
	"context"

	"github.com/zkverify/zkverify/ensemble/links"
)

// bandwidthKind narrows one client's links to 1 to 8 kB a second, each way. The
// list of a crowded lock's children then takes longer than a heartbeat, which
// waits behind it.
func bandwidthKind() Kind {
	return Kind{
		Name: "bandwidth", Description: "a client's links carry few bytes a second", Weight: 1, links: true,
		Span:   timeouts(0.5, 1.5),
		params: []param{number("bytes-per-second", 1)},
		Make: func(s Scene) (Fault, error) {
			return onClient(s, "bandwidth", func(f *Fault) func(context.Context, links.Link) error {
				rate := s.setNumber(f, "bytes-per-second", 1000*(1+s.Rand.IntN(8)))
				return func(ctx context.Context, l links.Link) error { return l.Throttle(ctx, rate) }
			})
		},
	}
}
