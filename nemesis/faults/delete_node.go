package faults

import (
	"context"
	"fmt"
	"strconv"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// Administrator is implemented by a World that knows the lock nodes of its clients.
type Administrator interface {
	// Node returns a node by which a client holds a lock now, or has its place in a queue;
	// draw picks one of several. It reports false when none is known.
	Node(client int, draw uint32) (Node, bool)
}

// Node is a node of a lock.
type Node struct {
	Lock    string // the lock of the node
	Token   int64  // the zxid that identifies the lease or the place; 0: the lock has no tokens
	Sub     int32  // of the token, for a lease whose node is known
	Session int64  // the session that owns the node
	Permits int    // for a lease of permits: the number of permits, each with a node of its own
	// Delete deletes the node. An error means that it was gone already, or may still exist.
	Delete func(context.Context) error
}

// deleteWithin bounds the time of a deletion: it takes a few round trips while the ensemble serves.
const deleteWithin = expireWithin

// deleteKind deletes the node by which a client holds a lock, or waits for it, like an
// administrator cleaning up by hand. The session lives on. As with a forced
// expiry, the client cannot be warned; a lock can still promise that the loss is
// reported soon, that a waiter takes another place, and that a lease of several locks
// gives back the others.
func deleteKind() fault.Kind {
	return fault.Kind{
		Name:        histories.NodeDeletion,
		Description: "the node by which a client holds a lock, or waits for it, is deleted as by an administrator",
		Weight:      2,
		Span:        fault.Instant,
		Make: func(s fault.Scene) (fault.Fault, error) {
			c, err := s.Victim()
			if err != nil {
				return fault.Fault{}, err
			}
			if fault.AtHolder.At(c) && !c.Lingers && s.Exact {
				return fault.Fault{}, fmt.Errorf("%w: client %d holds its lock only for a moment", fault.ErrNobody, c.Index)
			}
			w, ok := s.World.(Administrator)
			if !ok {
				return fault.Fault{}, fmt.Errorf("%w: no node of a lock is known", fault.ErrNobody)
			}
			node, ok := w.Node(c.Index, s.Rand.Uint32())
			if !ok {
				return fault.Fault{}, fmt.Errorf("%w: client %d has no node that is known", fault.ErrNobody, c.Index)
			}
			params := map[string]string{"lock": node.Lock}
			if node.Token == 0 {
				params["session"] = fmt.Sprintf("0x%016x", uint64(node.Session))
			} else {
				params["token"] = strconv.FormatInt(node.Token, 10)
			}
			if node.Sub > 0 {
				params["sub"] = strconv.Itoa(int(node.Sub))
			}
			if node.Permits > 0 {
				params["permits"] = strconv.Itoa(node.Permits)
			}
			return fault.Fault{
				Name:       histories.NodeDeletion,
				Params:     params,
				HealWithin: deleteWithin, Start: node.Delete,
			}.OnClients(c), nil
		},
	}
}
