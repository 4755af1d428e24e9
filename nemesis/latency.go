package nemesis

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
)

// latencyKind slows one client's links down, each way, with jitter that
// reorders what different clients have under way. It stays below what would
// end a session: 20 to 200 ms each way.
func latencyKind() Kind {
	return Kind{
		Name: "latency", Description: "a client's links are slow, with jitter", Weight: 1,
		Span: timeouts(0.5, 1.5),
		Make: func(s Scene) (Fault, error) {
			c, err := s.Victim()
			if err != nil {
				return Fault{}, err
			}
			ls, scope := victimLinks(s, c)
			latency := time.Duration(20+s.Rand.IntN(181)) * time.Millisecond
			latency = min(latency, s.SessionTimeout()/8)
			jitter := latency / time.Duration(2+s.Rand.IntN(4))
			f := Fault{
				Name: "latency", Clients: []int{c.Index},
				Targets: []string{clientName(c)},
				Params:  map[string]string{"links": scope, "latency": latency.String(), "jitter": jitter.String()},
			}
			return f.onLinks(ls, func(ctx context.Context, l links.Link) error { return l.Delay(ctx, latency, jitter) }), nil
		},
	}
}
