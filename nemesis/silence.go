package nemesis

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
)

// silenceKind ends a session the honest way: nothing is heard of the client
// for longer than its session timeout. The servers check once a tick and a
// lease of the client may have been renewed the instant before, hence the
// margin. A client whose lease has not ended by then is a second believer.
func silenceKind() Kind {
	return Kind{
		Name:        "expire-silence",
		Description: "a client is cut off for longer than its session timeout",
		Weight:      4,
		Span: func(t time.Duration) (time.Duration, time.Duration) {
			return t + t/3, t + 2*t/3
		},
		Make: func(s Scene) (Fault, error) {
			c, err := s.Victim()
			if err != nil {
				return Fault{}, err
			}
			f := Fault{Name: "expire-silence"}.onClients(c)
			return f.onLinks(c.allLinks(), func(ctx context.Context, l links.Link) error {
				return l.Cut(ctx, links.BlackHole)
			}), nil
		},
	}
}
