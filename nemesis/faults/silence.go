package faults

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// silenceKind ends a session by silence: the servers hear nothing of the client
// for longer than its session timeout. The servers check once a tick, and the
// client may have renewed its lease just before the cut, hence the margin. A client
// whose lease has not ended by then is a second believer.
func silenceKind() fault.Kind {
	return fault.Kind{
		Name:        "expire-silence",
		Description: "a client is cut off for longer than its session timeout",
		Weight:      4,
		Span: func(t time.Duration) (time.Duration, time.Duration) {
			return t + t/3, t + 2*t/3
		},
		Make: func(s fault.Scene) (fault.Fault, error) {
			c, err := s.Victim()
			if err != nil {
				return fault.Fault{}, err
			}
			f := fault.Fault{Name: "expire-silence"}.OnClients(c)
			return f.OnLinks(c.AllLinks(), func(ctx context.Context, l links.Link) error {
				return l.Cut(ctx, links.BlackHole)
			}), nil
		},
	}
}
