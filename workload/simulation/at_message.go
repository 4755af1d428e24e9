package simulation

import (
	"context"
	"fmt"
	"strconv"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// messageLink is a link that can be cut at a message.
type messageLink interface {
	CutAt(ctx context.Context, n int, cut links.Cut) error
}

// atMessage is the kind of fault of the plan edges: from one message on, a client's link
// is cut. Only links in memory know messages.
func atMessage() fault.Kind {
	return fault.Kind{
		Name: edgesFault, Description: "a client's link is cut from one message on", Links: true, Span: fault.Timeouts(0.2, 1.4),
		Params: []fault.Param{fault.Number("message", 1), fault.Choice("cut", names(links.Cuts())...)},
		Make: func(s fault.Scene) (fault.Fault, error) {
			c, err := s.Victim()
			if err != nil {
				return fault.Fault{}, err
			}
			n, err := strconv.Atoi(s.Pick.Params["message"])
			if err != nil {
				return fault.Fault{}, fmt.Errorf("at-message: at which? %w", err)
			}
			cut := links.Cut(s.Pick.Params["cut"])
			ls := c.AllLinks()
			if l, ok := c.Links[c.Linked]; ok && s.Pick.Links == fault.OneLink {
				ls = []links.Link{l}
			}
			f := fault.Fault{Name: edgesFault, Params: s.Pick.Params}.OnClients(c)
			return f.OnLinks(ls, func(ctx context.Context, l links.Link) error {
				m, ok := l.(messageLink)
				if !ok {
					return fmt.Errorf("at-message: link %s does not count messages", l.Name())
				}
				return m.CutAt(ctx, n, cut)
			}), nil
		},
	}
}

func names(cuts []links.Cut) (all []string) {
	for _, c := range cuts {
		all = append(all, string(c))
	}
	return all
}
