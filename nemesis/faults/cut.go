package faults

import (
	"context"
	"fmt"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// cutKind cuts one client off in one of the ways in which links can be cut:
// from the server that it is linked to, so that it moves to another server and keeps
// its session, or from all servers, so that it has no server left. Spans range
// from well below the session timeout, where sessions must survive, to above it.
func cutKind(name, description string, cut links.Cut) fault.Kind {
	return fault.Kind{
		Name: name, Description: description, Weight: 1, Links: true,
		Span: fault.Timeouts(0.2, 1.4),
		Make: func(s fault.Scene) (fault.Fault, error) {
			return onClient(s, name, func(*fault.Fault) func(context.Context, links.Link) error {
				return func(ctx context.Context, l links.Link) error { return l.Cut(ctx, cut) }
			})
		},
	}
}

// onClient makes a fault of one client's links: the link in use, or all of them.
// decide sets the details and returns the function that changes each link.
func onClient(s fault.Scene, name string, decide func(*fault.Fault) func(context.Context, links.Link) error) (fault.Fault, error) {
	c, err := s.Victim()
	if err != nil {
		return fault.Fault{}, err
	}
	ls, scope := victimLinks(s, c)
	f := fault.Fault{Name: name, Params: map[string]string{"links": scope}}.OnClients(c)
	start := decide(&f)
	return f.OnLinks(ls, start), nil
}

// victimLinks returns the links of a client that are hit. If the schedule does not
// choose, it is only the link in use in one case of three, else all links.
func victimLinks(s fault.Scene, c fault.Client) ([]links.Link, string) {
	one := s.Rand.IntN(3) == 0
	if s.Pick.Links != "" {
		one = s.Pick.Links == fault.OneLink
	}
	if l, ok := c.Links[c.Linked]; ok && one {
		return []links.Link{l}, fmt.Sprintf("server %d", c.Linked)
	}
	return c.AllLinks(), fault.AllServers
}
