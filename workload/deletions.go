package workload

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/workload/lock"
)

// stand is a lock that a client holds or waits for, and the token of its node.
type stand struct {
	lock    string
	token   histories.Token
	node    string // its path, where the lease knows it
	permits int    // of a lease of permits
}

// stands returns by which nodes the client holds and waits, as far as tokens tell.
func (c *client) stands() (all []stand) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.held {
		if stands := h.stands(); h.lingers.Load() {
			return known(stands) // the others are over in a moment
		} else {
			all = append(all, stands...)
		}
	}
	if len(all) == 0 && c.waiting {
		all = append(all, c.place)
	}
	return known(all)
}

// known leaves out those without a token.
func known(all []stand) []stand {
	return slices.DeleteFunc(all, func(s stand) bool { return s.token == (histories.Token{}) })
}

func (h *hold) stands() (all []stand) {
	var nodes []string
	if n, ok := h.lease.(lock.NodesLease); ok {
		nodes = n.Nodes()
	}
	node := func(i int) string {
		if i < len(nodes) {
			return nodes[i]
		}
		return ""
	}
	if h.event.Parts == nil {
		if h.event.Permits > 0 {
			nodes = nil // it may not know all
		}
		return []stand{{h.event.Lock, h.event.Token, node(0), h.event.Permits}}
	}
	for i, p := range h.event.Parts {
		all = append(all, stand{p.Lock, p.Token, node(i), 0})
	}
	return all
}

// Node is faults.Administrator.
func (w world) Node(client int, draw uint32) (faults.Node, bool) {
	c := w.clients[client]
	all := c.stands()
	if len(all) == 0 {
		return faults.Node{}, false
	}
	s := all[int(draw)%len(all)]
	session := c.status().Session
	return faults.Node{
		Lock: s.lock, Token: fmt.Sprint(s.token.Zxid), Permits: s.permits,
		Delete: func(ctx context.Context) error {
			return w.observer.deleteNode(ctx, s, path.Join(w.lockRoot(), s.lock), session)
		},
	}, true
}

// errShared says that a transaction has made nodes of several leases.
var errShared = errors.New("several leases have nodes of the same transaction")

// errGone says that a node was gone before it could be deleted.
var errGone = errors.New("the node was gone already")

// deleteNode deletes the node of a session below dir, fast: most locks are held for a
// moment only.
func (o *observer) deleteNode(ctx context.Context, at stand, dir string, session int64) error {
	done := make(chan error, 1)
	// Ends when the servers answer, at the latest when the connection is closed.
	o.wg.Go(func() {
		node, err := at.node, error(nil)
		if node == "" {
			node, err = o.nodeOf(dir, session, at.token.Zxid, max(1, at.permits))
		}
		if err == nil {
			err = o.conn.Delete(node, -1)
		}
		if errors.Is(err, zk.ErrNoNode) {
			err = errGone
		}
		done <- err
	})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// nodeOf returns the node of a session below dir that a transaction has made; of
// n, as of permits that were taken at once, the last: whoever looks after the first alone
// does not see it go. If it made more, for other leases, nobody knows whose it is.
func (o *observer) nodeOf(dir string, session, zxid int64, n int) (string, error) {
	nodes, err := o.nodes(dir)
	if err != nil {
		return "", err
	}
	var made []string
	for p, stat := range nodes {
		if stat.EphemeralOwner == session && stat.Czxid == zxid {
			made = append(made, p)
		}
	}
	switch {
	case len(made) < n:
		return "", errGone
	case len(made) > n:
		return "", errShared
	}
	sequence := func(node string) string { return node[max(0, len(node)-10):] }
	return slices.MaxFunc(made, func(a, b string) int { return strings.Compare(sequence(a), sequence(b)) }), nil
}
