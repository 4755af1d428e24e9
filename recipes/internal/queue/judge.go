package queue

import (
	"slices"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// anyChange is the key under which contenders with a rule of the user's wait for any change
// of the queue: the rule decides each time which of the nodes ahead has to go.
const anyChange = ""

// verdict is the local queue's decision about a contender's turn.
type verdict struct {
	granted bool
	own     string // wait for this node of the session: the contender will be woken
	other   string // wait for this node of another session
	any     bool   // wait until any contender goes; for those of the session the contender will be woken
	list    int64  // wait for this list
	next    string // after the list most likely wait for this node of another session; "": none, or not known
}

// judge applies the contender's rule. When the verdict is to wait for a node of the
// session, it registers the contender to be woken.
//
// A contender that does not block is not refused because of a node of another session until
// it has been in a list itself. A list from before its own node was created may come from a
// server that lags behind, and the other node may have been gone when the call began.
func (q *localQueue) judge(c *Contender, block bool) (verdict, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.permits != nil && c.permits.given() {
		return verdict{granted: true}, nil // a contender ahead takes its permits, too
	}
	if q.own[c.Node] != c {
		return verdict{}, session.ErrNodeGone // a node that is not in the list is not first in it (zk.Lock grants twice here)
	}
	p, _ := ParsePlace(c.Node, q.kinds)
	if err := p.numbered(q.dir); err != nil {
		return verdict{}, err
	}
	places := q.lines.givenUp.standing(q.places)
	i, _ := slices.BinarySearchFunc(places, p, order)
	ahead := c.rule(places, i)
	if ahead >= i || ahead < granted {
		return verdict{}, ErrBadRule
	}
	list := q.started + 1
	if q.flight != nil && q.flight.number >= max(q.needed, q.passed) {
		list = q.flight.number // requested with the node's create: it most likely has the node
	}
	switch {
	case ahead < 0 && (places[i].listed == 0 || q.now().After(q.fresh)):
		return verdict{list: list}, nil
	case ahead < 0:
		if q.old() && q.kinds[0] != Lock {
			return verdict{list: list}, nil // there may be a downgraded reader ahead
		}
		c.atHead = i == 0
		return verdict{granted: true}, nil
	}
	unsure := !block && places[i].listed == 0
	if c.custom && unsure {
		return verdict{list: list}, nil
	}
	if c.custom {
		q.waiting[anyChange] = append(q.waiting[anyChange], c)
		return verdict{any: true}, nil
	}
	v := q.waitFor(c, places, i, ahead, unsure)
	if v.own == "" && v.other == "" {
		v.list = list
	}
	return v, nil
}

// waitFor returns the node for which the contender at index i in places waits. ahead is the
// place for which its rule waits. The verdict names no node to wait for when that takes a
// list first. q is locked.
func (q *localQueue) waitFor(c *Contender, places []Place, i, ahead int, unsure bool) verdict {
	blocker := places[ahead].Node
	if q.own[blocker] == nil {
		if unsure {
			return verdict{}
		}
		without := slices.Delete(slices.Clone(places[:i+1]), ahead, ahead+1)
		earlier := c.rule(without, i-1)
		more := earlier >= 0 && earlier < ahead
		if q.applied < q.needed || q.old() && (more || q.kinds[0] != Lock) {
			return verdict{next: blocker} // the blocker, or others ahead, may be gone
		}
		// If the contender would have to wait for another node without the blocker, wait
		// for that node first. When it goes, the list that shows which nodes are left
		// comes while the blocker has its turn, not after. One request watches both.
		if more && q.own[places[earlier].Node] == nil {
			return verdict{other: places[earlier].Node, next: blocker}
		} else if more {
			blocker = places[earlier].Node
		}
	}
	if q.own[blocker] != nil {
		if i == 1 && places[i].listed == 0 {
			return verdict{} // the list for the second contender comes while the first has its turn
		}
		q.waiting[blocker] = append(q.waiting[blocker], c)
		if c.permits != nil {
			c.permits.waitFor(true)
		}
		return verdict{own: blocker}
	}
	return verdict{other: blocker}
}
