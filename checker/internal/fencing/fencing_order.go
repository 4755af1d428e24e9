package fencing

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// turnOrder compares tokens with the order of the holds themselves. If one grant had returned
// before another did, and the other was held until it was released, the first was granted
// first: otherwise it would have been granted while the other held. So the other's token is the
// greater one, even if both were asked for at the same time. A release whose node is gone is
// answered like any other, so it proves nothing about a holder that lost its node to a forced
// expiry or to a deletion.
type turnOrder struct {
	newest [2]*facts.Hold // the greatest token of the returned grants, and the greatest of another owner
	doubts []doubt
}

// doubt is a grant with an older token than that of a grant that had returned before.
type doubt struct{ first, second *facts.Hold }

// returned takes in a grant.
func (o *turnOrder) returned(h *facts.Hold) {
	if h.Mode != histories.ModeRead {
		for _, a := range o.newest {
			if a != nil && a.Owner != h.Owner && a.Start < h.Start && h.Token.Less(a.Token) {
				o.doubts = append(o.doubts, doubt{a, h})
				break
			}
		}
	}
	switch a := o.newest[0]; {
	case a == nil || a.Owner == h.Owner:
		o.newest[0] = newer(a, h)
	case a.Token.Less(h.Token):
		o.newest = [2]*facts.Hold{h, a}
	default:
		o.newest[1] = newer(o.newest[1], h)
	}
}

// settle judges the grants whose end is known.
func (o *turnOrder) settle(v *verdict.Verdict, t *facts.Trace) {
	o.doubts = slices.DeleteFunc(o.doubts, func(d doubt) bool {
		if d.second.Released == facts.Forever || d.second.Closed {
			return t.Last || d.second.Closed || d.second.Why == facts.ByLoss || d.second.Why == facts.ByCrashing
		}
		robbed := len(t.Faults.RobbedIn(d.second.Process, d.second.Session, d.second.Call, d.second.Released)) > 0
		if d.second.Call <= d.first.Start && !robbed { // the other case: see grants.order
			v.Violate(func() verdict.Witness { return laterTurn(t, d.first, d.second) })
		}
		return true
	})
}

func laterTurn(t *facts.Trace, a, b *facts.Hold) verdict.Witness {
	p, q := judge.HoldParty(a), judge.HoldParty(b)
	return grant(t, b.Start, b.Start, fmt.Sprintf("%v was granted lock %q at %s with token %s, and then %v at %s, who held it until it gave it back, with the older token %s",
		p, a.Lock, verdict.At(a.Start), verdict.Token(a.Token), q, verdict.At(b.Start), verdict.Token(b.Token)), p, q, a.Lock)
}
