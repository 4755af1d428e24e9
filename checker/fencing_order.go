package checker

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// turnOrder holds tokens against the order of the holds themselves. Where one
// grant had returned before another did, and the other was held until it was given
// back, the one was the first: else it would have been granted while the other
// held. So the other's token is the greater one, although both were asked for at
// the same time. A release of a node that is gone is answered as any other: it proves
// nothing of a holder that a forced expiry, or the deletion of its node, had robbed.
type turnOrder struct {
	newest [2]*hold // the greatest token of those that have returned, and the greatest of another owner than that
	doubts []doubt
}

// doubt is a grant with an older token than that of one that had returned before.
type doubt struct{ first, second *hold }

// returned takes in a grant.
func (o *turnOrder) returned(h *hold) {
	if h.mode != histories.ModeRead {
		for _, a := range o.newest {
			if a != nil && a.owner != h.owner && a.start < h.start && h.token.Less(a.token) {
				o.doubts = append(o.doubts, doubt{a, h})
				break
			}
		}
	}
	switch a := o.newest[0]; {
	case a == nil || a.owner == h.owner:
		o.newest[0] = newer(a, h)
	case a.token.Less(h.token):
		o.newest = [2]*hold{h, a}
	default:
		o.newest[1] = newer(o.newest[1], h)
	}
}

// settle judges the grants of which it is known how they ended.
func (o *turnOrder) settle(v *Verdict, t *trace) {
	o.doubts = slices.DeleteFunc(o.doubts, func(d doubt) bool {
		if d.second.released == forever || d.second.closed {
			return t.last || d.second.closed || d.second.why == byLoss || d.second.why == byCrashing
		}
		robbed := len(t.faults.robbedIn(d.second.process, d.second.call, d.second.released)) > 0
		if d.second.call <= d.first.start && !robbed { // else see grants.order
			v.violate(func() Witness { return t.laterTurn(d.first, d.second) })
		}
		return true
	})
}

func (t *trace) laterTurn(a, b *hold) Witness {
	p, q := a.party(), b.party()
	return t.grant(b.start, b.start, fmt.Sprintf("%v was granted lock %q at %s with token %s, and then %v at %s, who held it until it gave it back, with the older token %s",
		p, a.lock, at(a.start), token(a.token), q, at(b.start), token(b.token)), p, q, a.lock)
}
