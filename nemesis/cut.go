package nemesis

import (
	"context"
	"fmt"

	"github.com/zkverify/zkverify/ensemble/links"
)

const (
	linksDown         = links.Down
	linksBlackHole    = links.BlackHole
	linksRequestsLost = links.RequestsLost
	linksRepliesLost  = links.RepliesLost
	linksReset        = links.Reset
)

// cutKind cuts one client off in one of the ways in which links can be cut:
// from the server that it is linked to, so that it moves to another and keeps
// its session, or from all of them, so that it has nowhere to go. Spans reach
// from well below the session timeout, where everything must be survived, to
// above it.
func cutKind(name, description string, cut links.Cut) Kind {
	return Kind{
		Name: name, Description: description, Weight: 1, links: true,
		Span: timeouts(0.2, 1.4),
		Make: func(s Scene) (Fault, error) {
			return onClient(s, name, func(*Fault) func(context.Context, links.Link) error {
				return func(ctx context.Context, l links.Link) error { return l.Cut(ctx, cut) }
			})
		},
	}
}

// onClient makes a fault of one client's links: the one in use, or all of them.
// decide settles the details and returns what is done to each link.
func onClient(s Scene, name string, decide func(*Fault) func(context.Context, links.Link) error) (Fault, error) {
	c, err := s.Victim()
	if err != nil {
		return Fault{}, err
	}
	ls, scope := victimLinks(s, c)
	f := Fault{Name: name, Params: map[string]string{"links": scope}}.onClients(c)
	start := decide(&f)
	return f.onLinks(ls, start), nil
}

// victimLinks returns which of a client's links are hit. Where the schedule does
// not say, it is in one case of three only the one in use.
func victimLinks(s Scene, c Client) ([]links.Link, string) {
	one := s.Rand.IntN(3) == 0
	if s.links != "" {
		one = s.links == OneLink
	}
	if l, ok := c.Links[c.Linked]; ok && one {
		return []links.Link{l}, fmt.Sprintf("server %d", c.Linked)
	}
	return c.allLinks(), allServers
}

// allServers is on record where all links of a client are hit.
const allServers = "all servers"

// onClients completes a fault of a client's links or session: it hits all who share
// them.
func (f Fault) onClients(c Client) Fault {
	f.Clients, f.Targets = []int{c.Index}, []string{clientName(c.Index)}
	for _, other := range c.Together {
		if other != c.Index {
			f.Clients, f.Targets = append(f.Clients, other), append(f.Targets, clientName(other))
		}
	}
	return f
}

func clientName(index int) string { return fmt.Sprintf("client %d", index) }
