package queue

import (
	"sync"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// givenUp holds the contenders of a session that were given up before their nodes were
// known: the create had not been answered when the context ended. The create may still make
// the node, which is then deleted in the background. Until then the node is ahead of the
// session's next contender, and must not count there, like the node of a contender that is
// leaving (see localQueue.leaving): otherwise the next try would be refused a lock that is
// free.
//
// Not counting it is safe. Such a contender is never granted the lock, and other sessions
// see one more node ahead of theirs.
type givenUp struct {
	mu    sync.Mutex
	guids map[string]bool // true: given up; false: settled before it was given up
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

// settle is called when no node can be left of a contender that is given up, or is about to
// be.
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

// standing returns the places without those of contenders that were given up.
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

// giveUp gives up contenders whose create may still make their nodes.
func giveUp(all []*Contender) {
	for _, c := range all {
		c.q.lines.givenUp.add(c.guid)
	}
}

// abandoned deletes the nodes of a create whose contenders were given up. paths and err are
// the outcome of the create.
func abandoned(s *session.Session, all []*Contender, paths []string, err error) {
	for i, c := range all {
		switch {
		case err == nil:
			s.Untrack(paths[i])
			session.DeleteInBackground(s, paths[i], c.settled)
		case !session.Undone(err):
			session.DeleteByGUID(s, c.q.dir, c.guid, c.settled)
		default:
			c.settled() // no node was created
		}
	}
}

// settled is called when the node of a contender that was given up is known to be gone, or
// never to have been created. Lists that were requested before may have it.
func (c *Contender) settled() {
	for _, q := range c.q.lines.at(c.q.dir) {
		q.outdated()
	}
	c.q.lines.givenUp.settle(c.guid)
}
