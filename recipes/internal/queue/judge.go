package queue

import (
	"slices"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// anybody is what contenders with a rule of the user's wait for: which of those
// ahead has to go is for the rule to say each time.
const anybody = ""

// verdict is what the local queue knows about a contender's turn.
type verdict struct {
	granted bool
	own     string // wait for this node of the session: the contender will be woken
	other   string // wait for this node of another session
	any     bool   // wait until anybody goes: the contender will be woken for nodes of the session
	list    int64  // or for this list
	next    string // and then most likely for this node of another session; "" if there is none, or it is not known
}

// judge applies the contender's rule. When the verdict is to wait for an own
// node the contender is registered to be woken.
//
// One that does not wait is not refused for a node of another session until it has
// stood in a list itself: a list from before its own node was made may be of a
// server that lags behind, and that node have been gone when the call began.
func (q *localQueue) judge(c *Contender, block bool) (verdict, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.permits != nil && c.permits.given() {
		return verdict{granted: true}, nil // somebody ahead takes for it, too
	}
	if q.own[c.Node] != c {
		return verdict{}, session.ErrNodeGone // not in the list is not first in it (zk.Lock grants twice here)
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
		list = q.flight.number // requested with the node's create: it most likely has it
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
		q.waiting[anybody] = append(q.waiting[anybody], c)
		return verdict{any: true}, nil
	}
	v := q.waitFor(c, places, i, ahead, unsure)
	if v.own == "" && v.other == "" {
		v.list = list
	}
	return v, nil
}

// waitFor says which node a contender at an index in places waits for when its rule
// says that it waits for the one at ahead. It names no such node when that takes a list.
// q is locked.
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
			return verdict{next: blocker} // it, or others ahead, may be there no more
		}
		// If another one would have to be waited for without the blocker, wait
		// for that one first. When it goes, the list that tells who is left
		// comes while the blocker has its turn, not after. One request watches both.
		if more && q.own[places[earlier].Node] == nil {
			return verdict{other: places[earlier].Node, next: blocker}
		} else if more {
			blocker = places[earlier].Node
		}
	}
	if q.own[blocker] != nil {
		if i == 1 && places[i].listed == 0 {
			return verdict{} // the next one's list comes while the first has its turn
		}
		q.waiting[blocker] = append(q.waiting[blocker], c)
		if c.permits != nil {
			c.permits.waitFor(true)
		}
		return verdict{own: blocker}
	}
	return verdict{other: blocker}
}
