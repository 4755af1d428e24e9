package simulation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// edgesFault is the fault of the plan edges.
const edgesFault = "at-message"

// messageLink is a link that can be cut at a message, the first for which at reports true, and then calls a
// function.
type messageLink interface {
	StrikeAt(ctx context.Context, at func(reply bool, data []byte) bool, cut links.Cut, do func()) error
	Cut(ctx context.Context, cut links.Cut) error
}

// The acts of an at-message that cut nothing.
const (
	pauseAct  = "pause"                // the client's process is paused
	cancelAct = "cancel"               // the contexts of the client's calls end
	crashAct  = "crash"                // the client crashes
	expireAct = histories.ForcedExpiry // its session is forced to expire
	deleteAct = histories.NodeDeletion // its node is deleted
)

// holdBackAct holds back what the client and its servers say. It is what a black hole is in one strike of
// two, then at one of the first writes: none of it is lost, and the write arrives when what it was decided
// by is old.
const holdBackAct = string(simulated.HeldBack)

// acts are the acts of an at-message, those of a seeded runtime last.
func acts(processes bool) []string {
	all := []string{string(links.BlackHole), string(links.RequestsLost), string(links.RepliesLost), string(links.Down), cancelAct, expireAct, deleteAct, crashAct}
	if processes {
		all = append(all, pauseAct)
	}
	return all
}

// How long the first act is in force, as a share of the session timeout in percent: the client
// notices nothing, its lease is over and its session is not, and its session is over.
var lengths = []int{25, 97, 130}

// The parameters of an at-message, besides "message", "act", and "then".
const (
	stepParam   = "step"   // the step of the client that begins the count of messages, see steps
	lengthParam = "length" // one of lengths, or blink
	lastsParam  = "lasts"  // the length of the second act, if it is long
	afterParam  = "after"  // the message at which the second act comes; 0: at once
	sinceParam  = "since"  // from which its messages are counted: sinceFirst, or sinceHealed
	struckParam = "struck" // in the record of the fault's end: how many of its acts took place
)

const (
	sinceFirst  = "act"
	sinceHealed = "heal"
)

// atMessage is the kind of fault of the plan edges: at one message of a step of a client something
// happens to it, and perhaps something else at a later one. Only links in memory know messages.
func atMessage() fault.Kind {
	all := acts(true)
	return fault.Kind{
		Name: edgesFault, Description: "at one message of a client its link is cut, its process paused, its call cancelled, its session expired, its node deleted, or it crashes; and perhaps something else at a later one",
		Links: true, Span: fault.Timeouts(0.1, 0.2),
		Params: []fault.Param{
			fault.Number("message", 0), fault.Choice("act", all...), fault.Choice("then", all...), fault.Number(afterParam, 0), fault.Choice(sinceParam, sinceFirst, sinceHealed),
			fault.Choice(stepParam, append(steps, stepQueued)...), fault.Number(lengthParam, 1), fault.Number(lastsParam, 1),
			{Name: pathParam, Check: checkPath},
		},
		Make: func(s fault.Scene) (fault.Fault, error) {
			c, err := s.Victim()
			if err != nil {
				return fault.Fault{}, err
			}
			k, err := newStrike(s, c)
			if err != nil {
				return fault.Fault{}, err
			}
			if err := k.follow(); err != nil {
				return fault.Fault{}, err
			}
			f := fault.Fault{Name: edgesFault, Params: s.Pick.Params, HealWithin: 8 * s.SessionTimeout(), Waits: true, Start: k.start, Stop: k.stop, Came: k.came}
			if k.act == pauseAct || k.then == pauseAct {
				if c.Worker == 0 {
					return f, errors.New("at-message: clients have no processes to pause without the seeded runtime (zkverify-sim)")
				}
				f.Name = histories.WorkerPause // the fault's name in the history, for the checker
			}
			f = f.OnClients(c)
			if k.hit = f.Clients; k.next != nil && !slices.Contains(f.Clients, k.next.client.Index) {
				k.next.hit = []int{k.next.client.Index}
				f.Clients, f.Targets = append(slices.Clone(f.Clients), k.next.hit...), append(f.Targets, fault.ClientName(k.next.hit[0]))
			} else if k.next != nil {
				k.next.hit = f.Clients
			}
			return f, nil
		},
	}
}

// newStrike reads the parameters of a scene.
func newStrike(s fault.Scene, c fault.Client) (*strike, error) {
	p := s.Pick.Params
	t := s.SessionTimeout()
	k := &strike{scene: s, client: c, step: p[stepParam], act: p["act"], then: p["then"], since: p[sinceParam], lasts: t / 4, ahead: -1, patience: 2 * t, limit: t}
	var errs [3]error
	if p[pathParam] == "" {
		length, err := strconv.Atoi(p[lengthParam])
		errs[1], k.length = err, time.Duration(length)*t/100
		k.message, errs[0] = strconv.Atoi(p["message"])
	}
	for _, act := range []*string{&k.act, &k.then} {
		if *act == string(links.BlackHole) && s.Pick.Draw>>8%2 == 0 {
			*act = holdBackAct
		}
	}
	if k.then != "" {
		k.after, errs[2] = strconv.Atoi(p[afterParam])
	}
	if n, err := strconv.Atoi(p[lastsParam]); err == nil {
		k.lasts = time.Duration(n) * t / 100
	}
	for _, l := range c.AllLinks() {
		m, counts := l.(messageLink)
		if !counts {
			return nil, fmt.Errorf("at-message: link %s does not count messages", l.Name())
		}
		if k.all = append(k.all, m); l == c.Links[c.Linked] || s.Pick.Links != fault.OneLink {
			k.cut = append(k.cut, m)
		}
		if l == c.Links[c.Linked] {
			k.linked = append(k.linked, m)
		}
	}
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("at-message: %w", err)
	}
	var ok bool
	if k.world, ok = s.World.(fault.Searcher); !ok {
		return nil, errors.New("at-message: the run does not tell the steps of its clients")
	}
	return k, nil
}
