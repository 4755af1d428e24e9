package simulation

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// messageLink is a link that can be cut, or call a function, at a given message.
type messageLink interface {
	CutAt(ctx context.Context, n int, cut links.Cut) error
	CallAt(ctx context.Context, n int, do func()) error
}

// pauseAt is the choice of an at-message that cuts nothing: the client's process is paused.
const pauseAt = "pause"

// atMessage is the kind of fault of the plan edges: from one message on, a client's link
// is cut, or its process is paused. Only links in memory know messages.
func atMessage() fault.Kind {
	return fault.Kind{
		Name: edgesFault, Description: "a client's link is cut, or its process is paused, from one message on", Links: true, Span: fault.Timeouts(0.2, 1.4),
		Params: []fault.Param{fault.Number("message", 1), fault.Choice("cut", append(names(links.Cuts()), pauseAt)...)},
		Make: func(s fault.Scene) (fault.Fault, error) {
			c, err := s.Victim()
			if err != nil {
				return fault.Fault{}, err
			}
			n, err := strconv.Atoi(s.Pick.Params["message"])
			if err != nil {
				return fault.Fault{}, fmt.Errorf("at-message: at which? %w", err)
			}
			ls := c.AllLinks()
			if l, ok := c.Links[c.Linked]; ok && s.Pick.Links == fault.OneLink {
				ls = []links.Link{l}
			}
			cut := s.Pick.Params["cut"]
			f := fault.Fault{Name: edgesFault, Params: s.Pick.Params}.OnClients(c)
			f = f.OnLinks(ls, func(ctx context.Context, l links.Link) error {
				m, ok := l.(messageLink)
				switch {
				case !ok:
					return fmt.Errorf("at-message: link %s does not count messages", l.Name())
				case cut == pauseAt:
					return m.CallAt(ctx, n, func() { _ = s.World.(fault.Workers).Pause(ctx, c.Worker) }) // it cannot fail here
				}
				return m.CutAt(ctx, n, links.Cut(cut))
			})
			if cut != pauseAt {
				return f, nil
			}
			if c.Worker == 0 {
				return f, errors.New("at-message: clients have no processes to pause without the seeded runtime (zkverify-sim)")
			}
			f.Name = histories.WorkerPause // the fault's name in the history, for the checker
			heal := f.Stop
			f.Stop = func(ctx context.Context) error {
				return errors.Join(heal(ctx), s.World.(fault.Workers).Resume(c.Worker))
			}
			return f, nil
		},
	}
}

func names(cuts []links.Cut) (all []string) {
	for _, c := range cuts {
		all = append(all, string(c))
	}
	return all
}
