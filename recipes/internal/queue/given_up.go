package queue

import (
	"sync"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// givenUp are the contenders of a session that were given up before their nodes were
// known: the create had not been answered when the context ended. It may still make
// the node, which is then deleted in the background. Until that has happened it is
// ahead of what the same session asks for next, and it must not count there, as the
// node of a contender that is leaving does not (see localQueue.leaving): a lock that is free
// would be refused to the next try.
//
// Not to count it is safe. Such a contender is never granted anything, and for other
// sessions its node is one more ahead of them.
type givenUp struct {
	mu    sync.Mutex
	guids map[string]bool // true once given up, false once nothing can be left before that
}

// add is called when a contender is given up.
func (g *givenUp) add(guid string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, settled := g.guids[guid]; settled {
		delete(g.guids, guid)
		return
	}
	if g.guids == nil {
		g.guids = make(map[string]bool)
	}
	g.guids[guid] = true
}

// settle is called when nothing can be left of a contender that is given up, or is
// just about to be.
func (g *givenUp) settle(guid string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.guids[guid] {
		delete(g.guids, guid)
		return
	}
	if g.guids == nil {
		g.guids = make(map[string]bool)
	}
	g.guids[guid] = false
}

// standing returns the places without those of contenders that are given up.
func (g *givenUp) standing(places []Place) []Place {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.guids) == 0 {
		return places
	}
	var left []Place
	for _, p := range places {
		if !g.guids[session.GUIDOf(p.Node)] {
			left = append(left, p)
		}
	}
	return left
}

// giveUp gives contenders up whose create may still make their nodes.
func giveUp(all []*Contender) {
	for _, c := range all {
		c.q.lines.givenUp.add(c.guid)
	}
}

// abandoned sees to it that nothing is left of a create whose contenders are given up, by what
// came of it: the paths of the nodes, or an error.
func abandoned(s *session.Session, all []*Contender, paths []string, err error) {
	for i, c := range all {
		switch {
		case err == nil:
			s.Untrack(paths[i])
			session.DeleteInBackground(s, paths[i], c.settled)
		case !session.Undone(err):
			session.DeleteByGUID(s, c.q.dir, c.guid, c.settled)
		default:
			c.settled() // nothing was made
		}
	}
}

// settled is called when the node of a contender that is given up is known to be
// gone, or never to have been made. Lists that were asked for before may have it.
func (c *Contender) settled() {
	for _, q := range c.q.lines.at(c.q.dir) {
		q.outdated()
	}
	c.q.lines.givenUp.settle(c.guid)
}
